package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components/shell"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/web/auth"
	"github.com/towpath-dev/towpath/web/kube"
	"github.com/towpath-dev/towpath/web/static"
)

// render writes a page once it is whole: an error on the way to it can still
// become a page of its own.
func (s *Server) render(c echo.Context, status int, component templ.Component) error {
	html, err := renderHTML(c.Request().Context(), component)
	if err != nil {
		return err
	}
	return c.HTMLBlob(status, html)
}

func (s *Server) renderOK(c echo.Context, component templ.Component) error {
	return s.render(c, http.StatusOK, component)
}

func renderHTML(ctx context.Context, component templ.Component) ([]byte, error) {
	var html bytes.Buffer
	if err := component.Render(ctx, &html); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return html.Bytes(), nil
}

// navigation is the way to the parts of the portal, with the path below which
// each lies.
var navigation = []struct{ text, url, below string }{
	{"Home", "/", ""},
	{"Services", "/services", "/services"},
	{"Changes", "/changes", "/changes"},
	{"Golden paths", "/catalogue", "/golden-paths"},
	{"Environments", "/environments", "/environments"},
}

// shell is the frame of a page.
func (s *Server) shell(c echo.Context, title string) shell.View {
	request := c.Request()
	view := shell.View{
		Title: title, Development: s.Development, RequestID: requestID(request.Context()),
		Assets: shell.AssetsView{Stylesheet: static.Stylesheet.URL, Script: static.Script.URL, Icon: static.Icon.URL},
		Notice: notices[c.QueryParam("done")],
	}
	person, ok := auth.FromContext(request.Context())
	if !ok {
		return view
	}
	name := person.Name
	if name == "" {
		name = person.Username
	}
	view.Person = &shell.PersonView{Name: plan.Sanitize(name), Username: plan.Sanitize(person.Username), SignOutURL: "/sign-out"}
	for _, entry := range navigation {
		path := request.URL.Path
		if path == "/compose" {
			path = "/services"
		}
		current := path == entry.url || entry.below != "" && strings.HasPrefix(path+"/", entry.below+"/")
		view.Nav = append(view.Nav, shell.NavView{Text: entry.text, URL: entry.url, Current: current})
	}
	return view
}

// notices are what a page says after an action. The address carries only the key.
var notices = map[string]string{
	"approved":    "Your approval is recorded.",
	"rejected":    "Your rejection is recorded. It is final for this plan.",
	"commented":   "Your comment is recorded.",
	"withdrawn":   "The change is withdrawn. What was applied stays as it is.",
	"proposed":    "The change is proposed. Its plans are being made.",
	"not-counted": "Your review is recorded, but it does not count. The reason stands beside it.",
}

// user is the person for whom a request is answered. Require has let only people
// through.
func user(c echo.Context) kube.User {
	person, _ := auth.FromContext(c.Request().Context())
	return kube.User{Username: person.Username, Groups: person.Groups}
}
