package issuer

import (
	"net/url"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const tokenLife = time.Hour

// client is the portal as the provider knows it.
type client struct{ config Config }

var _ op.Client = client{}

func (c client) GetID() string                    { return c.config.ClientID }
func (c client) RedirectURIs() []string           { return []string{c.config.RedirectURL} }
func (c client) PostLogoutRedirectURIs() []string { return []string{c.config.PostLogoutURL} }

// ApplicationType is web: a native one may come back to any port.
func (c client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodNone }
func (c client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c client) GrantTypes() []oidc.GrantType        { return []oidc.GrantType{oidc.GrantTypeCode} }
func (c client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeBearer }
func (c client) IDTokenLifetime() time.Duration      { return tokenLife }

// DevMode would let more redirect URLs through than the one.
func (c client) DevMode() bool { return false }

func (c client) LoginURL(id string) string {
	return signInPath + "?" + url.Values{"id": {id}}.Encode()
}

func (c client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return slices.Clone[[]string]
}

func (c client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return slices.Clone[[]string]
}

func (c client) IsScopeAllowed(string) bool { return false }

// IDTokenUserinfoClaimsAssertion puts names and groups into the ID token, where
// Kubernetes and the portal look for them.
func (c client) IDTokenUserinfoClaimsAssertion() bool { return true }
func (c client) ClockSkew() time.Duration             { return 0 }
