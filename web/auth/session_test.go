package auth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/web/auth"
)

// signIn signs a browser in.
func (h *hostile) signIn(b *browser, p *portal) {
	h.t.Helper()
	if r := b.get(callback(p, h.begin(b, p, "/"))); r.status != http.StatusSeeOther {
		h.t.Fatalf("sign-in ends with %d: %s", r.status, r.body)
	}
}

// start starts a provider, a portal, and a browser that is signed in as ana.
func start(t *testing.T, changes ...func(*auth.Config)) (*hostile, *portal, *browser) {
	t.Helper()
	h := startHostile(t)
	p, b := startPortal(t, h.issuer, changes...), newBrowser(t)
	h.signIn(b, p)
	return h, p, b
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	type step struct {
		pass time.Duration
		// listen asks for events instead of a page.
		listen bool
		want   int
	}
	short := func(c *auth.Config) { c.Idle, c.Absolute = time.Hour, 3*time.Hour }
	for name, steps := range map[string][]step{
		"not before their time":      {{pass: 59 * time.Minute, want: http.StatusOK}},
		"when they are not used":     {{pass: time.Hour, want: http.StatusSeeOther}},
		"later when they are used":   {{pass: 50 * time.Minute, want: http.StatusOK}, {pass: 50 * time.Minute, want: http.StatusOK}},
		"after all, even when used":  {{pass: 50 * time.Minute, want: http.StatusOK}, {pass: 50 * time.Minute, want: http.StatusOK}, {pass: 50 * time.Minute, want: http.StatusOK}, {pass: 30 * time.Minute, want: http.StatusSeeOther}},
		"while a page only listens":  {{pass: 50 * time.Minute, listen: true, want: http.StatusOK}, {pass: 10 * time.Minute, listen: true, want: http.StatusUnauthorized}},
		"and do not begin once more": {{pass: time.Hour, want: http.StatusSeeOther}, {want: http.StatusSeeOther}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p, b := start(t, short)
			for i, step := range steps {
				p.clock.pass(step.pass)
				b.header.Del("Accept")
				if step.listen {
					b.header.Set("Accept", "text/event-stream")
				}
				if r := b.get(p.url + "/changes"); r.status != step.want {
					t.Fatalf("step %d: answers %d, want %d", i, r.status, step.want)
				}
			}
		})
	}
}

func TestASessionIsNewAtEachSignIn(t *testing.T) {
	t.Parallel()
	h, p, attacker := start(t)
	planted := attacker.session(p.url)
	victim := newBrowser(t)
	victim.plant(p.url, planted)
	h.claims = func(claims map[string]any) { claims["preferred_username"] = "victim" }
	h.signIn(victim, p)
	if victim.session(p.url) == planted {
		t.Error("the planted session is still in use")
	}
	if r := attacker.get(p.url + "/"); r.status != http.StatusSeeOther {
		t.Errorf("the planted session still answers %d: %s", r.status, r.body)
	}
	if r := victim.get(p.url + "/"); r.body != "victim of developer" {
		t.Errorf("the victim is %q", r.body)
	}
}

func TestInventedSessionsAskNobody(t *testing.T) {
	t.Parallel()
	_, p, signedIn := start(t)
	id, _, _ := strings.Cut(signedIn.session(p.url), ".")
	before := p.store.asked()
	for name, value := range map[string]string{
		"nothing":           "",
		"a word":            "admin",
		"without signature": id,
		"empty signature":   id + ".",
		"wrong signature":   id + "." + strings.Repeat("0", 64),
		"only a signature":  "." + strings.Repeat("0", 64),
		"very long":         strings.Repeat("A", 3000),
	} {
		b := newBrowser(t)
		b.plant(p.url, value)
		if r := b.get(p.url + "/changes"); r.status != http.StatusSeeOther {
			t.Errorf("%s: answers %d: %s", name, r.status, r.body)
		}
	}
	if got := p.store.asked(); got != before {
		t.Errorf("the store was asked %d times", got-before)
	}
}

func TestTwoBrowsersAtOnce(t *testing.T) {
	t.Parallel()
	h, p, ana := start(t)
	ben := newBrowser(t)
	h.claims = func(claims map[string]any) { claims["preferred_username"] = "ben" }
	h.signIn(ben, p)
	nobody := newBrowser(t)
	var wait sync.WaitGroup
	for want, b := range map[string]*browser{"ana of developer": ana, "ben of developer": ben, "": nobody} {
		for range 4 {
			wait.Go(func() {
				for range 20 {
					if r := b.get(p.url + "/changes"); r.body != want {
						t.Errorf("signed in as %q, want %q", r.body, want)
					}
				}
			})
		}
	}
	wait.Wait()
}

func TestSigningOut(t *testing.T) {
	t.Parallel()
	_, p, b := start(t)
	session := b.session(p.url)
	r := b.post(p.url+"/sign-out", url.Values{})
	if r.status != http.StatusOK {
		t.Fatalf("sign-out answers %d: %s", r.status, r.body)
	}
	next := strings.TrimPrefix(r.body, "signed out, next ")
	if refresh := r.header.Get("Refresh"); refresh != "0; url="+next {
		t.Errorf("the browser goes on to %q, the page to %q", refresh, next)
	}
	query := parse(t, next).Query()
	if query.Get("id_token_hint") == "" {
		t.Error("the provider is not told who signs out")
	}
	query.Del("id_token_hint")
	want := url.Values{"client_id": {"towpath"}, "post_logout_redirect_uri": {p.url + "/signed-out"}}
	if diff := cmp.Diff(want, query); diff != "" {
		t.Errorf("the provider is told (-want +got)\n%s", diff)
	}
	if n := p.store.size(); n != 0 {
		t.Errorf("the store keeps %d sessions", n)
	}
	// A thief of the cookie is signed out as well.
	b.plant(p.url, session)
	if r := b.get(p.url + "/"); r.status != http.StatusSeeOther {
		t.Errorf("the session still answers %d", r.status)
	}
	if r := b.post(p.url+"/sign-out", url.Values{}); r.body != "signed out, next " {
		t.Errorf("signing out twice: %d %s", r.status, r.body)
	}
}

func TestSigningOutInManyGroups(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	claim("groups", strings.Fields(strings.Repeat("developer-of-everything platform-of-all ", 250)))(h)
	p, b := startPortal(t, h.issuer), newBrowser(t)
	h.signIn(b, p)
	next := parse(t, strings.TrimPrefix(b.post(p.url+"/sign-out", url.Values{}).body, "signed out, next "))
	if len(next.String()) > 8<<10 || next.Query().Get("client_id") != "towpath" {
		t.Errorf("the provider is asked with %d bytes: %s", len(next.String()), next.Path)
	}
}

func TestAnotherSiteCannotSignOut(t *testing.T) {
	t.Parallel()
	_, p, b := start(t)
	b.header.Set("Sec-Fetch-Site", "cross-site")
	if r := b.post(p.url+"/sign-out", url.Values{}); r.status != http.StatusForbidden {
		t.Errorf("answers %d", r.status)
	}
	b.header.Del("Sec-Fetch-Site")
	if r := b.get(p.url + "/"); r.status != http.StatusOK {
		t.Errorf("signed out: %d", r.status)
	}
}

func TestReplicasShareSessions(t *testing.T) {
	t.Parallel()
	h, p, b := start(t)
	other, err := auth.New(t.Context(), auth.Config{
		URL: p.url, Issuer: h.url, ClientID: "towpath",
		Claims: auth.Claims{Username: "preferred_username", Groups: "groups"},
		Key:    []byte(strings.Repeat("k", 32)), Store: p.store, Pages: pages{}, Clock: p.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	replica := handler(other)
	ask := func() int {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/", nil)
		for _, cookie := range b.client.Jar.Cookies(parse(t, p.url)) {
			request.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		replica.ServeHTTP(w, request)
		return w.Code
	}
	if got := ask(); got != http.StatusOK {
		t.Fatalf("the other replica answers %d", got)
	}
	session := b.session(p.url)
	b.post(p.url+"/sign-out", url.Values{})
	b.plant(p.url, session)
	p.clock.pass(10 * time.Second)
	if got := ask(); got != http.StatusSeeOther {
		t.Errorf("ten seconds after signing out the other replica answers %d", got)
	}
}

func TestARenewalDoesNotBringASessionBack(t *testing.T) {
	t.Parallel()
	_, p, b := start(t)
	// Another replica ends it; this one still remembers it, and would renew.
	p.store.mu.Lock()
	clear(p.store.records)
	p.store.mu.Unlock()
	p.clock.pass(9 * time.Second)
	b.get(p.url + "/")
	p.clock.pass(10 * time.Minute)
	if r := b.get(p.url + "/"); r.status != http.StatusSeeOther {
		t.Errorf("answers %d", r.status)
	}
	if n := p.store.size(); n != 0 {
		t.Errorf("the store has %d sessions again", n)
	}
}

func TestASessionEndsWhileItIsRead(t *testing.T) {
	t.Parallel()
	_, p, b := start(t)
	session := b.session(p.url)
	other := newBrowser(t)
	other.plant(p.url, session)
	p.clock.pass(time.Minute)
	p.store.onRead = func() { other.post(p.url+"/sign-out", url.Values{}) }
	for range 2 {
		if r := b.get(p.url + "/"); r.status != http.StatusSeeOther {
			t.Errorf("answers %d: %s", r.status, r.body)
		}
	}
}

func TestTheStoreIsAway(t *testing.T) {
	t.Parallel()
	_, p, b := start(t)
	p.store.goAway(errors.New("connection refused"))
	p.clock.pass(30 * time.Second)
	if r := b.get(p.url + "/"); r.status != http.StatusOK {
		t.Errorf("after 30 seconds: %d %s", r.status, r.body)
	}
	p.clock.pass(2 * time.Minute)
	if r := b.get(p.url + "/"); r.status != http.StatusServiceUnavailable || !strings.HasPrefix(r.body, "session-store: ") {
		t.Errorf("after some minutes: %d %s", r.status, r.body)
	}
	if r := b.post(p.url+"/", url.Values{"a": {"b"}}); r.status != http.StatusServiceUnavailable {
		t.Errorf("a form: %d %s", r.status, r.body)
	}
	p.store.goAway(nil)
	if r := b.get(p.url + "/"); r.status != http.StatusOK {
		t.Errorf("when it is back: %d %s", r.status, r.body)
	}
}

// A store that says nothing must not keep people waiting: those who are known are
// let in, and all others are told.
func TestTheStoreDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pass time.Duration
		want int
	}{
		"for half a minute":           {30 * time.Second, http.StatusOK},
		"when a session is to renew":  {time.Minute + 45*time.Second, http.StatusOK},
		"for longer than is believed": {3 * time.Minute, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p, b := start(t, func(c *auth.Config) { c.Idle = 30 * time.Minute })
			p.store.fallSilent()
			p.clock.pass(test.pass)
			b.client.Timeout = 20 * time.Second
			if r := b.get(p.url + "/"); r.status != test.want {
				t.Errorf("answers %d %s; want %d", r.status, r.body, test.want)
			}
		})
	}
}

func TestTheStoreIsAwayAtSignIn(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	p, b := startPortal(t, h.issuer), newBrowser(t)
	p.store.goAway(errors.New("connection refused"))
	if r := b.get(callback(p, h.begin(b, p, "/"))); r.status != http.StatusServiceUnavailable || b.session(p.url) != "" {
		t.Errorf("answers %d %s, session %q", r.status, r.body, b.session(p.url))
	}
}

func TestStoredSessionsAreSealed(t *testing.T) {
	t.Parallel()
	_, p, b := start(t)
	id, _, _ := strings.Cut(b.session(p.url), ".")
	for name, record := range p.store.records {
		for _, secret := range []string{"ana", "developer", id} {
			if strings.Contains(name+string(record.Sealed), secret) {
				t.Errorf("the store can read %q", secret)
			}
		}
	}
	if strings.Contains(p.log.String(), id) {
		t.Error("the log has the session")
	}
	// Under other rules nobody stays who they were.
	h := startHostile(t)
	other := startPortal(t, h.issuer, func(c *auth.Config) {
		c.Store, c.Claims.UsernamePrefix = p.store, "oidc:"
	})
	b.plant(other.url, b.session(p.url))
	if r := b.get(other.url + "/"); r.status != http.StatusSeeOther {
		t.Errorf("a portal with other rules answers %d: %s", r.status, r.body)
	}
}
