package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/web/auth"
)

// refusal is what a browser sees of a failed sign-in.
type refusal struct {
	Status int
	Code   string
}

// refused checks that a sign-in failed and left nothing behind.
func refused(t *testing.T, p *portal, b *browser, r reply, want refusal) {
	t.Helper()
	code, _, _ := strings.Cut(r.body, ":")
	if diff := cmp.Diff(want, refusal{Status: r.status, Code: code}); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, r.body)
	}
	if n := p.store.asked(); n != 0 {
		t.Errorf("the session store was asked %d times", n)
	}
	if b.session(p.url) != "" {
		t.Error("the browser has a session")
	}
	if home := b.get(p.url + "/"); home.status != http.StatusSeeOther {
		t.Errorf("home answers %d", home.status)
	}
}

func claim(name string, value any) func(*hostile) {
	return func(h *hostile) { h.claims = func(claims map[string]any) { claims[name] = value } }
}

func without(name string) func(*hostile) {
	return func(h *hostile) { h.claims = func(claims map[string]any) { delete(claims, name) } }
}

func answering(status int, body string) func(*hostile) {
	return func(h *hostile) {
		h.respond = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
}

func TestTokensAreRefused(t *testing.T) {
	t.Parallel()
	badToken := refusal{http.StatusUnauthorized, "token"}
	badName := refusal{http.StatusUnauthorized, "username"}
	badGroups := refusal{http.StatusUnauthorized, "groups"}
	for name, test := range map[string]struct {
		hostile func(*hostile)
		config  func(*auth.Config)
		want    refusal
	}{
		"signed by another key": {hostile: func(h *hostile) {
			public := h.published
			h.signWith(jose.ES256)
			h.published = public
		}, want: badToken},
		"not signed at all": {hostile: func(h *hostile) {
			h.token = func(claims map[string]any, _ string) any {
				payload, err := json.Marshal(claims)
				if err != nil {
					h.t.Error(err)
				}
				return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
			}
		}, want: badToken},
		"signed with the public key as a shared secret": {hostile: func(h *hostile) {
			h.token = func(claims map[string]any, _ string) any {
				public, err := json.Marshal(jose.JSONWebKey{Key: h.published})
				if err != nil {
					h.t.Error(err)
				}
				return h.sign(jose.HS256, public, claims)
			}
		}, want: badToken},
		"claims changed after signing": {hostile: func(h *hostile) {
			h.token = func(claims map[string]any, signed string) any {
				parts := strings.Split(signed, ".")
				claims["preferred_username"] = "approver"
				payload, err := json.Marshal(claims)
				if err != nil {
					h.t.Error(err)
				}
				parts[1] = base64.RawURLEncoding.EncodeToString(payload)
				return strings.Join(parts, ".")
			}
		}, want: badToken},
		"of another issuer":        {hostile: claim("iss", "https://evil.example.test"), want: badToken},
		"for another audience":     {hostile: claim("aud", "other"), want: badToken},
		"for two, without a party": {hostile: claim("aud", []string{"towpath", "other"}), want: badToken},
		"issued to another party":  {hostile: claim("azp", "other"), want: badToken},
		"expired":                  {hostile: claim("exp", time.Now().Add(-time.Minute).Unix()), want: badToken},
		"without an expiry":        {hostile: without("exp"), want: badToken},
		"not valid for an hour":    {hostile: claim("nbf", time.Now().Add(time.Hour).Unix()), want: badToken},
		"with another nonce":       {hostile: claim("nonce", "other"), want: badToken},
		"without a nonce":          {hostile: without("nonce"), want: badToken},
		"without a subject":        {hostile: without("sub"), want: badToken},
		"of another access token":  {hostile: claim("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), want: badToken},
		"no token":                 {hostile: func(h *hostile) { h.token = func(map[string]any, string) any { return nil } }, want: badToken},
		"a token of another type":  {hostile: func(h *hostile) { h.token = func(map[string]any, string) any { return 7 } }, want: badToken},
		"a token that is none":     {hostile: func(h *hostile) { h.token = func(map[string]any, string) any { return "a.b.c" } }, want: badToken},
		"the code is refused":      {hostile: answering(http.StatusBadRequest, `{"error":"invalid_grant"}`), want: badToken},
		"the issuer sends the code onward": {hostile: func(h *hostile) {
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				h.t.Error("the code went to another server")
			}))
			h.t.Cleanup(elsewhere.Close)
			h.respond = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			}
		}, want: badToken},
		"the answer has no end": {
			hostile: answering(http.StatusOK, `{"id_token":"`+strings.Repeat("x", 3<<20)+`"}`),
			want:    refusal{http.StatusBadGateway, "provider"},
		},

		"no username":                   {hostile: without("preferred_username"), want: badName},
		"an empty username":             {hostile: claim("preferred_username", ""), want: badName},
		"a blank username":              {hostile: claim("preferred_username", " \t"), want: badName},
		"a username of spaces around":   {hostile: claim("preferred_username", " ana"), want: badName},
		"a username that is a number":   {hostile: claim("preferred_username", 7), want: badName},
		"a username that is a list":     {hostile: claim("preferred_username", []string{"ana"}), want: badName},
		"a username that is null":       {hostile: claim("preferred_username", nil), want: badName},
		"a username of Kubernetes":      {hostile: claim("preferred_username", "system:admin"), want: badName},
		"the same in capitals":          {hostile: claim("preferred_username", "SyStEm:admin"), want: badName},
		"a username that reads another": {hostile: claim("preferred_username", "ana\u202etset"), want: badName},
		"a username with a line break":  {hostile: claim("preferred_username", "ana\r\nImpersonate-Group: x"), want: badName},
		"a username without end":        {hostile: claim("preferred_username", strings.Repeat("a", 257)), want: badName},
		"a username that the prefix makes Kubernetes' own": {
			hostile: claim("preferred_username", ":admin"),
			config:  func(c *auth.Config) { c.Claims.UsernamePrefix = "system" }, want: badName,
		},
		"a username of Kubernetes behind a prefix": {
			hostile: claim("preferred_username", "system:admin"),
			config:  func(c *auth.Config) { c.Claims.UsernamePrefix = "oidc:" }, want: badName,
		},
		"an email address not verified": {
			hostile: claim("email_verified", false),
			config:  func(c *auth.Config) { c.Claims.Username = "email" },
			want:    refusal{http.StatusUnauthorized, "email-not-verified"},
		},
		"an email address verified in words": {
			hostile: claim("email_verified", "true"),
			config:  func(c *auth.Config) { c.Claims.Username = "email" },
			want:    refusal{http.StatusUnauthorized, "email-not-verified"},
		},

		"no groups":                   {hostile: without("groups"), want: badGroups},
		"groups that are null":        {hostile: claim("groups", nil), want: badGroups},
		"an empty list of groups":     {hostile: claim("groups", []string{}), want: badGroups},
		"an empty group":              {hostile: claim("groups", []string{"developer", ""}), want: badGroups},
		"an empty group by itself":    {hostile: claim("groups", ""), want: badGroups},
		"a blank group":               {hostile: claim("groups", []string{"  "}), want: badGroups},
		"a group that is a number":    {hostile: claim("groups", []any{"developer", 7}), want: badGroups},
		"a group that is a list":      {hostile: claim("groups", []any{[]string{"developer"}}), want: badGroups},
		"groups that are an object":   {hostile: claim("groups", map[string]any{"developer": true}), want: badGroups},
		"a group of Kubernetes":       {hostile: claim("groups", []string{"developer", "system:masters"}), want: badGroups},
		"the same group in capitals":  {hostile: claim("groups", []string{"SYSTEM:masters"}), want: badGroups},
		"a group with invisible part": {hostile: claim("groups", []string{"approver\u200b"}), want: badGroups},
		"a group that the prefix makes Kubernetes' own": {
			hostile: claim("groups", []string{":masters"}),
			config:  func(c *auth.Config) { c.Claims.GroupsPrefix = "system" }, want: badGroups,
		},
		"groups that are elsewhere": {
			hostile: claim("_claim_names", map[string]any{"groups": "src1"}),
			want:    badToken, // The source is named but not given.
		},
		"groups that are elsewhere, with a source": {hostile: func(h *hostile) {
			h.claims = func(claims map[string]any) {
				claims["_claim_names"] = map[string]any{"groups": "src1"}
				claims["_claim_sources"] = map[string]any{"src1": map[string]any{"endpoint": h.url + "/groups"}}
			}
		}, want: refusal{http.StatusUnauthorized, "too-many-groups"}},
		"more groups than are given": {hostile: claim("hasgroups", true), want: refusal{http.StatusUnauthorized, "too-many-groups"}},
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
			answer := h.begin(b, p, "/changes")
			refused(t, p, b, b.get(callback(p, answer)), test.want)
		})
	}
}

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
