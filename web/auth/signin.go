package auth

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"
)

// SignIn handles GET /sign-in: it sends the browser to the identity provider.
// The query's next says where to go afterwards.
func (a *Auth) SignIn(c echo.Context) error {
	if err := a.admit(c); err != nil {
		return err
	}
	p, err := a.provider(c.Request().Context())
	if err != nil {
		return fail(codeProvider, err)
	}
	state, begun, err := a.beginAttempt(c.Response(), c.Request(), localPath(c.QueryParam("next")))
	if err != nil {
		return err
	}
	return redirect(c, p.signInURL(state, begun))
}

// Callback handles GET /sign-in/callback: the way back from the identity
// provider. Only when everything is checked does it ask the session store.
func (a *Auth) Callback(c echo.Context) error {
	if err := a.admit(c); err != nil {
		return err
	}
	query, err := answerOf(c.Request())
	if err != nil {
		return err
	}
	begun, failure := a.takeAttempt(c.Response(), c.Request(), query.state)
	if failure != nil {
		return failure
	}
	person, raw, failure := a.identify(c, query, begun)
	if failure != nil {
		return failure
	}
	if err := a.startSession(c, person, raw); err != nil {
		return err
	}
	return redirect(c, begun.Next)
}

// SignedIn handles GET /signed-in, where a sign-in in a tab of its own ends.
func (a *Auth) SignedIn(c echo.Context) error {
	return a.config.Pages.SignedIn(c)
}

// admit limits how often sign-ins are tried.
func (a *Auth) admit(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	if a.limit.allow(clientAddress(c), a.clock.Now()) {
		return nil
	}
	c.Response().Header().Set("Retry-After", "60")
	return fail(codeRate, nil)
}

// answer is what the identity provider sends back through the browser.
type answer struct {
	state, code, issuer string
	failed              bool
}

// answerOf reads an answer in which nothing is said twice.
func answerOf(r *http.Request) (answer, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return answer{}, fail(codeAttempt, errors.New("the query cannot be read"))
	}
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(query[name]) > 1 {
			return answer{}, fail(codeAttempt, errors.New("the answer says "+name+" twice"))
		}
	}
	return answer{state: query.Get("state"), code: query.Get("code"), issuer: query.Get("iss"), failed: query.Has("error")}, nil
}

// identify finds out who the identity provider says has signed in.
func (a *Auth) identify(c echo.Context, query answer, begun attempt) (Person, string, *Failure) {
	ctx := c.Request().Context()
	p, err := a.provider(ctx)
	if err != nil {
		return Person{}, "", fail(codeProvider, err)
	}
	if query.issuer != a.config.Issuer && (query.issuer != "" || p.namesItself) {
		return Person{}, "", fail(codeIssuer, nil)
	}
	if query.failed || query.code == "" {
		return Person{}, "", fail(codeDeclined, nil)
	}
	raw, token, failure := a.redeem(ctx, p, query.code, begun)
	if failure != nil {
		return Person{}, "", failure
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return Person{}, "", fail(codeToken, err)
	}
	person, err := a.config.Claims.person(claims)
	var refused *claimsError
	if errors.As(err, &refused) {
		return Person{}, "", fail(refused.code, refused.err)
	}
	if err != nil {
		return Person{}, "", fail(codeUsername, err)
	}
	return person, raw, nil
}

// startSession gives the browser a session of its own. The one it had, perhaps
// planted by somebody, ends.
func (a *Auth) startSession(c echo.Context, person Person, idToken string) error {
	ctx := c.Request().Context()
	id, err := a.sessions.begin(ctx, person, idToken)
	if err != nil {
		return fail(codeStore, err)
	}
	if before, ok := a.sessions.seal.verify(value(c.Request(), a.cookies.session())); ok {
		if _, err := a.sessions.end(ctx, before); err != nil {
			a.log.WarnContext(ctx, "earlier session not ended", "err", err)
		}
	}
	a.cookies.set(c.Response(), a.cookies.session(), a.sessions.seal.sign(id), a.config.Absolute)
	a.log.InfoContext(ctx, "signed in", "user", person.Username, "groups", len(person.Groups))
	return nil
}

// redirect sends the browser on by GET. Where to is either a local path or an
// endpoint of the issuer, never from a request.
func redirect(c echo.Context, to string) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusSeeOther, to)
}
