package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

// Load finds out who is signed in and puts it into the request's context, for
// FromContext. It lets everybody through: Require does not.
func (a *Auth) Load(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		id, ok := a.sessions.seal.verify(value(request, a.cookies.session()))
		if !ok {
			return next(c)
		}
		// A page that only listens does not show that somebody is there.
		found, err := a.sessions.find(request.Context(), id, !listens(request))
		seen := visit{person: found.Person, id: id}
		if err != nil {
			seen = visit{}
		}
		if err != nil && !errors.Is(err, ErrNoSession) {
			seen.err = err
		}
		c.SetRequest(request.WithContext(withVisit(request.Context(), seen)))
		return next(c)
	}
}

// Require lets only those through who are signed in. Pages lead to the sign-in
// and back; a form is given back to be sent again; all else is answered 401.
func (a *Auth) Require(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		if _, ok := FromContext(request.Context()); ok {
			return next(c)
		}
		c.Response().Header().Set("Cache-Control", "no-store")
		if err := visitFrom(request.Context()).err; err != nil {
			return fail(codeStore, err)
		}
		switch {
		case listens(request):
			return fail(codeNoSession, nil)
		case request.Method == http.MethodGet, request.Method == http.MethodHead:
			return redirect(c, SignInPath+"?"+url.Values{"next": {localPath(request.URL.RequestURI())}}.Encode())
		case request.Method != http.MethodPost:
			return fail(codeNoSession, nil)
		}
		// What another site sent must not come back looking like the person's own.
		if err := a.origin.Check(request); err != nil {
			return fail(codeCrossOrigin, err)
		}
		return a.config.Pages.SessionEnded(c, keepForm(c.Response(), request))
	}
}

// Valid reports whether the session of this context has not ended since. What
// runs for long asks now and then; asking does not prolong the session.
func (a *Auth) Valid(ctx context.Context) bool {
	seen := visitFrom(ctx)
	if seen.id == "" {
		return false
	}
	_, err := a.sessions.find(ctx, seen.id, false)
	return err == nil
}

// listens reports whether a request is for events, by script.
func listens(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}
