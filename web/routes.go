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
	e.GET(auth.SignedInPath, s.auth.SignedIn)
	e.POST("/sign-out", s.auth.SignOut)
	e.GET(auth.SignedOutPath, s.auth.SignedOut)

	// Everything else is for people who are signed in.
	p := e.Group("", s.auth.Require)
	p.GET("/", s.showHome)

	// Catalogue: what a developer can ask for.
	p.GET("/catalogue", s.listGoldenPaths)
	p.GET("/golden-paths/:name", s.showGoldenPath)

	// Compose: the form that proposes a change. Only its button submit writes.
	p.GET("/compose", s.newProposal)
	p.POST("/compose", s.editProposal)

	// Changes: look, decide.
	p.GET("/changes", s.listChanges)
	p.GET("/changes/:namespace/:name", s.showChange)
	p.GET("/changes/:namespace/:name/events", s.streamChange)
	p.POST("/changes/:namespace/:name/approve", s.approveChange)
	p.POST("/changes/:namespace/:name/reject", s.rejectChange)
	p.POST("/changes/:namespace/:name/comment", s.commentChange)
	p.POST("/changes/:namespace/:name/withdraw", s.withdrawChange)

	// What runs, and what was run.
	p.GET("/services", s.listServices)
	p.GET("/services/:namespace/:name", s.showService)
	p.GET("/runs/:namespace/:name", s.showRun)
	p.GET("/runs/:namespace/:name/events", s.streamRun)
	p.GET("/environments", s.listEnvironments)

	if s.Development {
		e.GET("/gallery", s.showGallery)
	}
	e.RouteNotFound("/*", func(echo.Context) error { return echo.ErrNotFound })
}
