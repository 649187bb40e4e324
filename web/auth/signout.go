package auth

import (
	"net/url"

	"github.com/labstack/echo/v4"
)

// maxSignOutURL is what servers commonly take. A token with hundreds of groups
// is longer; the provider then asks the person, as it does without a hint.
const maxSignOutURL = 6 << 10

// SignOut handles POST /sign-out: it ends the session here and, where the
// identity provider offers that, there.
//
// The way there is a refresh of the page shown, not a redirect: a redirect would
// belong to the form that was sent, and the content security policy lets forms
// lead to this portal only.
func (a *Auth) SignOut(c echo.Context) error {
	ctx := c.Request().Context()
	c.Response().Header().Set("Cache-Control", "no-store")
	if err := a.origin.Check(c.Request()); err != nil {
		return fail(codeCrossOrigin, err)
	}
	id, ok := a.sessions.seal.verify(value(c.Request(), a.cookies.session()))
	a.cookies.clear(c.Response(), a.cookies.session())
	if !ok {
		return a.config.Pages.SignedOut(c, "")
	}
	ended, err := a.sessions.end(ctx, id)
	if err != nil {
		return fail(codeStore, err)
	}
	a.log.InfoContext(ctx, "signed out", "user", ended.Person.Username)
	provider := a.signOutURL(ended.IDToken)
	if provider != "" {
		c.Response().Header().Set("Referrer-Policy", "no-referrer")
		c.Response().Header().Set("Refresh", "0; url="+provider)
	}
	return a.config.Pages.SignedOut(c, provider)
}

// SignedOut handles GET /signed-out, where the identity provider sends people
// who have signed out.
func (a *Auth) SignedOut(c echo.Context) error {
	return a.config.Pages.SignedOut(c, "")
}

// signOutURL is where a person signs out at the provider, as OpenID Connect
// RP-Initiated Logout 1.0 has it; empty if there is no such place.
func (a *Auth) signOutURL(idToken string) string {
	found := a.found.Load()
	if found == nil || found.endSession == "" || idToken == "" {
		return ""
	}
	// Checked when it was found.
	u, _ := url.Parse(found.endSession)
	query := u.Query()
	query.Set("client_id", a.config.ClientID)
	query.Set("post_logout_redirect_uri", a.config.URL+SignedOutPath)
	u.RawQuery = query.Encode()
	short := u.String()
	query.Set("id_token_hint", idToken)
	u.RawQuery = query.Encode()
	if long := u.String(); len(long) <= maxSignOutURL {
		return long
	}
	return short
}
