package issuer

import (
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// request is a sign-in: first under way, then done, then redeemed. It implements
// op.AuthRequest. It is a value: the storage changes its own.
type request struct {
	id      string
	asked   oidc.AuthRequest
	begun   time.Time
	subject string
	done    time.Time
}

var _ op.AuthRequest = request{}

func (r request) GetID() string                      { return r.id }
func (r request) GetACR() string                     { return "" }
func (r request) GetAMR() []string                   { return nil }
func (r request) GetAudience() []string              { return []string{r.asked.ClientID} }
func (r request) GetAuthTime() time.Time             { return r.done }
func (r request) GetClientID() string                { return r.asked.ClientID }
func (r request) GetNonce() string                   { return r.asked.Nonce }
func (r request) GetRedirectURI() string             { return r.asked.RedirectURI }
func (r request) GetScopes() []string                { return r.asked.Scopes }
func (r request) GetState() string                   { return r.asked.State }
func (r request) GetSubject() string                 { return r.subject }
func (r request) Done() bool                         { return !r.done.IsZero() }
func (r request) GetResponseType() oidc.ResponseType { return r.asked.ResponseType }
func (r request) GetResponseMode() oidc.ResponseMode { return r.asked.ResponseMode }

func (r request) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: r.asked.CodeChallenge, Method: r.asked.CodeChallengeMethod}
}
