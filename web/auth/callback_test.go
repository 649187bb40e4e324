package auth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/towpath-dev/towpath/web/auth"
)

func TestAnswersAreRefused(t *testing.T) {
	t.Parallel()
	unknown := refusal{http.StatusBadRequest, "sign-in-not-found"}
	for name, test := range map[string]struct {
		answer  func(url.Values)
		hostile func(*hostile)
		wait    time.Duration
		want    refusal
	}{
		"without a state":         {answer: func(v url.Values) { v.Del("state") }, want: unknown},
		"with an empty state":     {answer: func(v url.Values) { v.Set("state", "") }, want: unknown},
		"with a forged state":     {answer: func(v url.Values) { v.Set("state", "ABCDEFGHIJKLMNOPQRSTUVWXYZ") }, want: unknown},
		"with two states":         {answer: func(v url.Values) { v.Add("state", "other") }, want: unknown},
		"with two codes":          {answer: func(v url.Values) { v.Add("code", "other") }, want: unknown},
		"ten minutes later":       {wait: 10 * time.Minute, want: unknown},
		"without a code":          {answer: func(v url.Values) { v.Del("code") }, want: refusal{http.StatusUnauthorized, "declined"}},
		"with an error":           {answer: func(v url.Values) { v.Set("error", "access_denied") }, want: refusal{http.StatusUnauthorized, "declined"}},
		"with an error and words": {answer: func(v url.Values) { v.Set("error", ""); v.Set("error_description", "echo-me") }, want: refusal{http.StatusUnauthorized, "declined"}},
		"of another issuer":       {answer: func(v url.Values) { v.Set("iss", "https://evil.example.test") }, want: refusal{http.StatusBadRequest, "wrong-issuer"}},
		"without the issuer that was promised": {hostile: func(h *hostile) {
			h.describe = func(d map[string]any) { d["authorization_response_iss_parameter_supported"] = true }
		}, want: refusal{http.StatusBadRequest, "wrong-issuer"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHostile(t)
			if test.hostile != nil {
				test.hostile(h)
			}
			p, b := startPortal(t, h.issuer), newBrowser(t)
			answer := h.begin(b, p, "/")
			if test.answer != nil {
				test.answer(answer)
			}
			p.clock.pass(test.wait)
			r := b.get(callback(p, answer))
			refused(t, p, b, r, test.want)
			if strings.Contains(r.body, "echo-me") || strings.Contains(r.body, "access_denied") {
				t.Errorf("the page says what the query says: %s", r.body)
			}
		})
	}
}

func TestAnAnswerBelongsToOneBrowserAndOneSignIn(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	p := startPortal(t, h.issuer)
	unknown := refusal{http.StatusBadRequest, "sign-in-not-found"}

	mine, theirs := newBrowser(t), newBrowser(t)
	answer := h.begin(mine, p, "/")
	refused(t, p, theirs, theirs.get(callback(p, answer)), unknown)

	// Somebody else's cookie under this state's name does not open either.
	other := newBrowser(t)
	h.begin(other, p, "/")
	moved := newBrowser(t)
	var name string
	for _, cookie := range mine.client.Jar.Cookies(parse(t, p.url)) {
		name = cookie.Name
	}
	for _, cookie := range other.client.Jar.Cookies(parse(t, p.url)) {
		moved.client.Jar.SetCookies(parse(t, p.url), []*http.Cookie{{Name: name, Value: cookie.Value, Path: "/"}})
	}
	refused(t, p, moved, moved.get(callback(p, answer)), unknown)
}

func TestASignInIsUsedOnce(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	p, b := startPortal(t, h.issuer), newBrowser(t)
	answer := h.begin(b, p, "/changes")
	thief := newBrowser(t)
	thief.client.Jar.SetCookies(parse(t, p.url), b.client.Jar.Cookies(parse(t, p.url)))

	if r := b.get(callback(p, answer)); r.status != http.StatusSeeOther || r.location != "/changes" {
		t.Fatalf("callback answers %d to %q: %s", r.status, r.location, r.body)
	}
	for name, test := range map[string]struct {
		browser *browser
		want    string
	}{
		"the browser has dropped its cookie":   {b, "sign-in-not-found"},
		"a browser that kept it comes to late": {thief, "sign-in-used"},
	} {
		r := test.browser.get(callback(p, answer))
		if got, _, _ := strings.Cut(r.body, ":"); got != test.want || r.status != http.StatusBadRequest {
			t.Errorf("%s: answers %d %s", name, r.status, r.body)
		}
	}
	if thief.session(p.url) != "" {
		t.Error("the thief has a session")
	}
}

func TestPeopleSignIn(t *testing.T) {
	t.Parallel()
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf("team-%03d-with-a-rather-long-name-in-the-directory", i)
	}
	for name, test := range map[string]struct {
		hostile func(*hostile)
		config  func(*auth.Config)
		want    string
	}{
		"with ES256": {hostile: func(h *hostile) { h.signWith(jose.ES256) }, want: "ana of developer"},
		"with RS256": {hostile: func(h *hostile) { h.signWith(jose.RS256) }, want: "ana of developer"},
		"with PS256": {hostile: func(h *hostile) { h.signWith(jose.PS256) }, want: "ana of developer"},
		"with EdDSA": {hostile: func(h *hostile) { h.signWith(jose.EdDSA) }, want: "ana of developer"},
		"in 500 groups": {
			hostile: claim("groups", many), want: "ana of " + strings.Join(many, ","),
		},
		"with one group that is no list":  {hostile: claim("groups", "developer"), want: "ana of developer"},
		"with groups twice, in any order": {hostile: claim("groups", []string{"b", "a", "b"}), want: "ana of a,b"},
		"as one of two audiences, the party": {hostile: func(h *hostile) {
			h.claims = func(c map[string]any) { c["aud"], c["azp"] = []string{"towpath", "x"}, "towpath" }
		}, want: "ana of developer"},
		"with prefixes": {
			hostile: claim("groups", []string{"dev"}),
			config:  func(c *auth.Config) { c.Claims.UsernamePrefix, c.Claims.GroupsPrefix = "oidc:", "oidc:" },
			want:    "oidc:ana of oidc:dev",
		},
		"by subject": {
			hostile: func(*hostile) {}, config: func(c *auth.Config) { c.Claims = auth.Claims{} }, want: "1234 of ",
		},
		"by email address": {
			hostile: claim("email_verified", true), config: func(c *auth.Config) { c.Claims.Username = "email" }, want: "ana@example.test of developer",
		},
		"to a portal with a secret": {hostile: func(h *hostile) {
			h.describe = func(d map[string]any) { d["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} }
		}, config: func(c *auth.Config) { c.ClientSecret = "s3cret" }, want: "ana of developer"},
		"at an issuer that names itself": {hostile: func(*hostile) {}, want: "ana of developer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHostile(t)
			test.hostile(h)
			var changes []func(*auth.Config)
			if test.config != nil {
				changes = append(changes, test.config)
			}
			p, b := startPortal(t, h.issuer, changes...), newBrowser(t)
			answer := h.begin(b, p, "/changes?state=open")
			answer.Set("iss", h.url)
			r := b.get(callback(p, answer))
			if r.status != http.StatusSeeOther || r.location != "/changes?state=open" {
				t.Fatalf("callback answers %d to %q: %s", r.status, r.location, r.body)
			}
			if got := b.get(p.url + "/changes"); got.body != test.want {
				t.Errorf("signed in as %q, want %q", got.body, test.want)
			}
			for _, cookie := range r.cookies {
				if len(cookie.String()) > 4096 {
					t.Errorf("cookie %q has %d bytes", cookie.Name, len(cookie.String()))
				}
				if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" {
					t.Errorf("cookie %q is not protected: %s", cookie.Name, cookie)
				}
			}
		})
	}
}

func TestTheIssuerIsAskedProperly(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	p, b := startPortal(t, h.issuer, func(c *auth.Config) { c.Scopes = []string{"groups"} }), newBrowser(t)
	first := h.begin(b, p, "/")
	asked := h.asked
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "towpath", "redirect_uri": p.url + "/sign-in/callback",
		"scope": "openid groups", "code_challenge_method": "S256",
	} {
		if got := asked.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	second := h.begin(b, p, "/")
	var values []string
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		values = append(values, asked.Get(name), h.asked.Get(name))
	}
	slices.Sort(values)
	if len(slices.Compact(values)) != 6 || len(asked.Get("state")) < 26 || len(asked.Get("nonce")) < 26 {
		t.Errorf("state, nonce and challenge are not fresh each time: %v", values)
	}
	// Two tabs sign in side by side; the one begun first ends last.
	if r := b.get(callback(p, second)); r.status != http.StatusSeeOther {
		t.Errorf("second tab: %d %s", r.status, r.body)
	}
	h.asked = asked
	if r := b.get(callback(p, first)); r.status != http.StatusSeeOther {
		t.Errorf("first tab: %d %s", r.status, r.body)
	}
}

func TestAnIssuerThatDescribesItselfBadly(t *testing.T) {
	t.Parallel()
	for name, describe := range map[string]func(map[string]any){
		"as another one":              func(d map[string]any) { d["issuer"] = "https://evil.example.test" },
		"without end":                 func(d map[string]any) { d["more"] = strings.Repeat("x", 3<<20) },
		"with people sent elsewhere":  func(d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" },
		"with codes sent in the open": func(d map[string]any) { d["token_endpoint"] = "http://id.example.test/token" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHostile(t)
			h.describe = describe
			p, b := startPortal(t, h.issuer), newBrowser(t)
			refused(t, p, b, b.get(p.url+"/sign-in"), refusal{http.StatusBadGateway, "provider"})
			// It is asked again until it has mended.
			h.describe = func(map[string]any) {}
			h.begin(b, p, "/")
		})
	}
}

func TestNobodyIsSentElsewhere(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"//evil.example.test", `/\evil.example.test`, "/\t/evil.example.test", "https://evil.example.test"} {
		h := startHostile(t)
		p, b := startPortal(t, h.issuer), newBrowser(t)
		if r := b.get(callback(p, h.begin(b, p, next))); r.status != http.StatusSeeOther || r.location != "/" {
			t.Errorf("next=%q: answers %d to %q", next, r.status, r.location)
		}
	}
}

func TestSignInsThatNobodyFinishes(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	p, b := startPortal(t, h.issuer), newBrowser(t)
	for range 20 {
		h.begin(b, p, "/")
		if n := len(b.client.Jar.Cookies(parse(t, p.url))); n > 5 {
			t.Fatalf("the browser keeps %d cookies", n)
		}
	}
	h.signIn(b, p)
}

func TestSignInsAreLimited(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	p, b := startPortal(t, h.issuer), newBrowser(t)
	var r reply
	for range 61 {
		// What a client says of itself does not make it another.
		b.header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", len(r.body)))
		r = b.get(p.url + "/sign-in")
	}
	if r.header.Get("Retry-After") == "" {
		t.Error("the answer does not say when to try again")
	}
	refused(t, p, b, r, refusal{http.StatusTooManyRequests, "too-many-sign-ins"})
	p.clock.pass(time.Minute)
	h.begin(b, p, "/")
}
