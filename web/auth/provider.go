package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	issuerTimeout = 10 * time.Second
	maxAnswer     = 2 << 20
	maxIDToken    = 256 << 10
)

// algorithms are those that an ID token may be signed with: public keys only, so
// that nothing the issuer publishes can serve to make one.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// provider is the issuer as it describes itself.
type provider struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	// endSession is where a person signs out; empty if that is not offered.
	endSession string
	// namesItself says that every answer names the issuer (RFC 9207).
	namesItself bool
}

// metadata are the parts of the issuer's description that go-oidc leaves to us.
type metadata struct {
	EndSession  string   `json:"end_session_endpoint"`
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
}

// provider asks the issuer to describe itself, until it has done so once.
func (a *Auth) provider(ctx context.Context) (*provider, error) {
	if found := a.found.Load(); found != nil {
		return found, nil
	}
	described, err := oidc.NewProvider(oidc.ClientContext(ctx, a.http), a.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask issuer %q for its description: %w", a.config.Issuer, err)
	}
	var more metadata
	if err := described.Claims(&more); err != nil {
		return nil, fmt.Errorf("read the description of issuer %q: %w", a.config.Issuer, err)
	}
	endpoint := described.Endpoint()
	endpoint.AuthStyle = a.authStyle(more.AuthMethods)
	for _, address := range []string{endpoint.AuthURL, endpoint.TokenURL} {
		if err := checkEndpoint(address); err != nil {
			return nil, fmt.Errorf("endpoint %q of issuer %q: %w", address, a.config.Issuer, err)
		}
	}
	if checkEndpoint(more.EndSession) != nil {
		more.EndSession = ""
	}
	found := &provider{
		oauth: oauth2.Config{
			ClientID: a.config.ClientID, ClientSecret: a.config.ClientSecret,
			Endpoint: endpoint, RedirectURL: a.config.URL + CallbackPath,
			Scopes: append([]string{oidc.ScopeOpenID}, a.config.Scopes...),
		},
		verifier: described.Verifier(&oidc.Config{
			ClientID: a.config.ClientID, SupportedSigningAlgs: algorithms, Now: a.clock.Now,
		}),
		endSession:  more.EndSession,
		namesItself: more.NamesItself,
	}
	a.found.Store(found)
	return found, nil
}

// authStyle says how the portal proves itself. It is never tried out: a code
// must not be sent twice.
func (a *Auth) authStyle(methods []string) oauth2.AuthStyle {
	if a.config.ClientSecret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// checkEndpoint checks an address that browsers and secrets are sent to. It may
// have a query of its own.
func checkEndpoint(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("it is no URL")
	}
	u.RawQuery = ""
	_, err = parseOrigin(u.String())
	return err
}

func (p *provider) signInURL(state string, begun attempt) string {
	return p.oauth.AuthCodeURL(state, oidc.Nonce(begun.Nonce), oauth2.S256ChallengeOption(begun.Verifier))
}

// redeem turns a code into a verified ID token.
func (a *Auth) redeem(ctx context.Context, p *provider, code string, begun attempt) (raw string, token *oidc.IDToken, failure *Failure) {
	answer, err := p.oauth.Exchange(oidc.ClientContext(ctx, a.http), code, oauth2.VerifierOption(begun.Verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		// The answer itself may hold anything, secrets too, so it is not logged.
		return "", nil, fail(codeToken, fmt.Errorf("the issuer refuses the code with status %d", refused.Response.StatusCode))
	}
	if err != nil {
		return "", nil, fail(codeProvider, fmt.Errorf("redeem the code: %w", withoutQuery(err)))
	}
	raw, _ = answer.Extra("id_token").(string)
	if raw == "" || len(raw) > maxIDToken {
		return "", nil, fail(codeToken, fmt.Errorf("the issuer gives an ID token of %d bytes", len(raw)))
	}
	token, err = p.verifier.Verify(ctx, raw)
	if err != nil {
		return "", nil, fail(codeToken, fmt.Errorf("verify the ID token: %w", err))
	}
	if err := a.checkToken(token, answer.AccessToken, begun.Nonce); err != nil {
		return "", nil, fail(codeToken, err)
	}
	return raw, token, nil
}

// checkToken checks what go-oidc leaves to the relying party.
func (a *Auth) checkToken(token *oidc.IDToken, accessToken, nonce string) error {
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1 {
		return errors.New("the ID token has another nonce")
	}
	var party struct {
		Authorized string `json:"azp"`
	}
	if err := token.Claims(&party); err != nil {
		return fmt.Errorf("read the authorized party: %w", err)
	}
	if (party.Authorized != "" || len(token.Audience) > 1) && party.Authorized != a.config.ClientID {
		return errors.New("the ID token was issued to another party")
	}
	if token.Subject == "" {
		return errors.New("the ID token has no subject")
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(accessToken); err != nil {
			return fmt.Errorf("compare the access token: %w", err)
		}
	}
	return nil
}

// withoutQuery drops the address from an error of the HTTP client, which may
// hold secrets.
func withoutQuery(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// issuerClient is a client for an issuer that may be slow, talk without end, or
// try to send secrets elsewhere.
func issuerClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &http.Client{
		Timeout:   issuerTimeout,
		Transport: bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// bounded cuts answers off that are too long.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}
