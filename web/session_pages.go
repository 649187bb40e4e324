package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	"github.com/towpath-dev/towpath/web/auth"
)

// The server draws the pages of signing in and out.
var _ auth.Pages = (*Server)(nil)

// SignedIn says that a person is signed in and may go back to where they were.
func (s *Server) SignedIn(c echo.Context) error {
	return s.renderOK(c, page.SignedIn(page.SignedInView{Shell: s.shell(c, "Signed in"), HomeURL: "/"}))
}

// SignedOut says that a person is signed out.
func (s *Server) SignedOut(c echo.Context, provider string) error {
	view := page.SignedOutView{Shell: s.shell(c, "Signed out"), SignInURL: auth.SignInPath, Message: "You are signed out.", ProviderURL: provider}
	// The session has ended with this request, whatever it began with.
	view.Shell.Person, view.Shell.Nav = nil, nil
	return s.renderOK(c, page.SignedOut(view))
}

// SessionEnded answers a form that was sent without a session: nothing of it is
// lost.
func (s *Server) SessionEnded(c echo.Context, form auth.KeptForm) error {
	view := page.SessionEndedView{Shell: s.shell(c, "Your session has ended"), SignInURL: form.SignIn, Action: form.Action, Kept: form.Kept}
	for _, field := range form.Fields {
		view.Fields = append(view.Fields, components.HiddenView{Name: field.Name, Value: field.Value})
	}
	return s.render(c, http.StatusUnauthorized, page.SessionEnded(view))
}
