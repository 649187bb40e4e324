package auth

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

const (
	// attemptLife is how long a person may take at the identity provider.
	attemptLife = 10 * time.Minute
	// maxAttempts is how many sign-ins one browser may have under way, in tabs
	// side by side.
	maxAttempts = 5
)

// attempt is a sign-in under way. It lives in a cookie of its own, sealed under
// the state: it opens only in the browser that began it, and only to a callback
// that brings the state.
type attempt struct {
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Next     string    `json:"next"`
	Begun    time.Time `json:"begun"`
}

// beginAttempt starts a sign-in in this browser.
func (a *Auth) beginAttempt(w http.ResponseWriter, r *http.Request, next string) (state string, begun attempt, err error) {
	state = rand.Text()
	begun = attempt{Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, Begun: a.clock.Now()}
	sealed, err := a.attempts.seal(state, begun)
	if err != nil {
		return "", attempt{}, err
	}
	if under := a.cookies.attemptsIn(r); len(under) >= maxAttempts {
		for _, name := range under {
			a.cookies.clear(w, name)
		}
	}
	a.cookies.set(w, a.cookies.attempt(attemptName(state)), base64.RawURLEncoding.EncodeToString(sealed), attemptLife)
	return state, begun, nil
}

// takeAttempt returns the sign-in that a state belongs to, once.
func (a *Auth) takeAttempt(w http.ResponseWriter, r *http.Request, state string) (attempt, *Failure) {
	name := a.cookies.attempt(attemptName(state))
	sealed, err := base64.RawURLEncoding.DecodeString(value(r, name))
	if err != nil || len(sealed) == 0 {
		return attempt{}, fail(codeAttempt, err)
	}
	a.cookies.clear(w, name)
	var begun attempt
	if err := a.attempts.open(state, sealed, &begun); err != nil {
		return attempt{}, fail(codeAttempt, err)
	}
	now := a.clock.Now()
	if now.Sub(begun.Begun) >= attemptLife {
		return attempt{}, fail(codeAttempt, nil)
	}
	if !a.spent.spend(state, now) {
		return attempt{}, fail(codeReplay, nil)
	}
	return begun, nil
}

// attemptName tells attempts of one browser apart without telling the state.
func attemptName(state string) string { return digest(state)[:16] }

// spent knows the states that came back, for as long as their attempts live. It
// is for a browser that does not forget its cookie when told to; that another
// replica does not know of it leaves the identity provider, which takes a code
// once. Its size is bounded by the limit on sign-ins.
type spent struct {
	mu     sync.Mutex
	states map[string]time.Time
}

// spend reports whether a state comes back for the first time.
func (s *spent) spend(state string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.states[state]; again {
		return false
	}
	if s.states == nil {
		s.states = map[string]time.Time{}
	}
	for other, at := range s.states {
		if now.Sub(at) >= attemptLife {
			delete(s.states, other)
		}
	}
	s.states[state] = now
	return true
}
