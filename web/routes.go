package web

import (
	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/web/auth"
)

// routes is the whole route table. Reading is GET and changes nothing; every
// change is a POST to a verb.
func (s *Server) routes() {
	e := s.echo

	// For machines. They tell nothing about people or services.
	e.GET("/healthz", s.showHealth)
	e.GET("/readyz", s.showReadiness)
	if s.MetricsHandler != nil {
		e.GET("/metrics", echo.WrapHandler(s.MetricsHandler))
	}
	e.GET("/static/:file", s.showAsset)

	// Signing in and out.
	e.GET(auth.SignInPath, s.auth.SignIn)
	e.GET(auth.CallbackPath, s.auth.Callback)
	e.GET(auth.SignedInPath, s.auth.SignedIn, s.auth.Require)
	e.POST("/sign-out", s.auth.SignOut)
	e.GET(auth.SignedOutPath, s.auth.SignedOut)

	// Everything else is for people who are signed in.
	get := func(path string, handler echo.HandlerFunc) { e.GET(path, handler, s.auth.Require) }
	post := func(path string, handler echo.HandlerFunc) { e.POST(path, handler, s.auth.Require) }
	get("/", s.showHome)
	get("/events", s.streamHome)

	// Catalogue: what a developer can ask for.
	get("/catalogue", s.listGoldenPaths)
	get("/golden-paths/:name", s.showGoldenPath)

	// Compose: the form that proposes a change. Only its button submit writes.
	get("/compose", s.newProposal)
	post("/compose", s.editProposal)

	// Changes: look, decide.
	get("/changes", s.listChanges)
	get("/changes/:namespace/:name", s.showChange)
	get("/changes/:namespace/:name/events", s.streamChange)
	post("/changes/:namespace/:name/approve", s.approveChange)
	post("/changes/:namespace/:name/reject", s.rejectChange)
	post("/changes/:namespace/:name/comment", s.commentChange)
	post("/changes/:namespace/:name/withdraw", s.withdrawChange)

	// What runs, and what was run.
	get("/services", s.listServices)
	get("/services/:namespace/:name", s.showService)
	get("/services/:namespace/:name/events", s.streamService)
	get("/runs/:namespace/:name", s.showRun)
	get("/runs/:namespace/:name/events", s.streamRun)
	get("/environments", s.listEnvironments)

	if s.Development {
		e.GET("/gallery", s.showGallery)
	}
}
