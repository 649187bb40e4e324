package issuer

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	// requestLife is how long a sign-in may take, from the first request until its
	// code is redeemed.
	requestLife = 10 * time.Minute
	maxRequests = 1000
)

var errUnknown = errors.New("unknown, used or expired")

// storage keeps sign-ins under way, in memory. It implements op.Storage; what
// the portal does not use is refused.
type storage struct {
	config Config
	key    signingKey

	mu       sync.Mutex
	requests map[string]request
	codes    map[string]string
}

var (
	_ op.Storage                   = (*storage)(nil)
	_ op.CanSetUserinfoFromRequest = (*storage)(nil)
)

func newStorage(config Config, key signingKey) *storage {
	return &storage{config: config, key: key, requests: map[string]request{}, codes: map[string]string{}}
}

// waiting reports whether a sign-in waits for somebody to be chosen.
func (s *storage) waiting(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.live(id)
	return ok && !found.Done()
}

// finish says who it is that signs in. It can be said once.
func (s *storage) finish(id, username string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.live(id)
	if !ok || found.Done() {
		return false
	}
	found.subject, found.done = username, time.Now()
	s.requests[id] = found
	return true
}

func (s *storage) live(id string) (request, bool) {
	found, ok := s.requests[id]
	return found, ok && time.Since(found.begun) < requestLife
}

// CreateAuthRequest implements op.Storage.
func (s *storage) CreateAuthRequest(_ context.Context, asked *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	if asked.CodeChallenge == "" || asked.CodeChallengeMethod != oidc.CodeChallengeMethodS256 {
		return nil, oidc.ErrInvalidRequest().WithDescription("A code challenge with method S256 is required.")
	}
	if !slices.Contains(asked.Scopes, oidc.ScopeOpenID) {
		return nil, oidc.ErrInvalidScope().WithDescription("The scope openid is required.")
	}
	if slices.Contains(asked.Prompt, oidc.PromptNone) {
		return nil, oidc.ErrLoginRequired()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidy()
	if len(s.requests) >= maxRequests {
		return nil, oidc.ErrServerError().WithDescription("Too many sign-ins are under way.")
	}
	made := request{id: rand.Text(), asked: *asked, begun: time.Now()}
	s.requests[made.id] = made
	return made, nil
}

func (s *storage) tidy() {
	for id := range s.requests {
		if _, ok := s.live(id); !ok {
			delete(s.requests, id)
		}
	}
	for code, id := range s.codes {
		if _, ok := s.requests[id]; !ok {
			delete(s.codes, code)
		}
	}
}

// AuthRequestByID implements op.Storage.
func (s *storage) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.live(id)
	if !ok {
		return nil, errUnknown
	}
	return found, nil
}

// SaveAuthCode implements op.Storage. A sign-in has one code.
func (s *storage) SaveAuthCode(_ context.Context, id, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.codes {
		if other == id {
			return errUnknown
		}
	}
	s.codes[code] = id
	return nil
}

// AuthRequestByCode implements op.Storage. A code is good once, also for somebody
// who then fails to prove that it is theirs.
func (s *storage) AuthRequestByCode(_ context.Context, code string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.codes[code]
	if !ok {
		return nil, errUnknown
	}
	found, ok := s.live(id)
	delete(s.codes, code)
	delete(s.requests, id)
	if !ok {
		return nil, errUnknown
	}
	return found, nil
}

// DeleteAuthRequest implements op.Storage.
func (s *storage) DeleteAuthRequest(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, id)
	return nil
}

// SetUserinfoFromRequest implements op.CanSetUserinfoFromRequest.
func (s *storage) SetUserinfoFromRequest(_ context.Context, info *oidc.UserInfo, of op.IDTokenRequest, _ []string) error {
	for _, p := range s.config.People {
		if p.Username == of.GetSubject() {
			info.Subject, info.PreferredUsername, info.Name = p.Username, p.Username, p.Name
			info.AppendClaims("groups", p.Groups)
			return nil
		}
	}
	return errUnknown
}

// CreateAccessToken implements op.Storage. The token opens nothing: all there is
// to know is in the ID token.
func (s *storage) CreateAccessToken(context.Context, op.TokenRequest) (string, time.Time, error) {
	return rand.Text(), time.Now().Add(tokenLife), nil
}

// TerminateSession implements op.Storage. There is nothing to end: everybody
// chooses anew who to be at each sign-in.
func (s *storage) TerminateSession(context.Context, string, string) error { return nil }

// GetClientByClientID implements op.Storage.
func (s *storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != s.config.ClientID {
		return nil, errUnknown
	}
	return client{s.config}, nil
}

// SigningKey implements op.Storage.
func (s *storage) SigningKey(context.Context) (op.SigningKey, error) { return s.key, nil }

// SignatureAlgorithms implements op.Storage.
func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{s.key.SignatureAlgorithm()}, nil
}

// KeySet implements op.Storage.
func (s *storage) KeySet(context.Context) ([]op.Key, error) {
	return []op.Key{publicKey{s.key}}, nil
}

// Health implements op.Storage.
func (s *storage) Health(context.Context) error { return nil }
