package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
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
