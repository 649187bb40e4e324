package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/web/auth"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*auth.Config)
		wrong  bool
	}{
		"as in production":               {change: func(*auth.Config) {}},
		"as on this machine":             {change: func(c *auth.Config) { c.URL, c.Issuer = "http://localhost:8080", "http://[::1]:8081" }},
		"an issuer with a path":          {change: func(c *auth.Config) { c.Issuer = "https://id.example.test/realms/a" }},
		"no address":                     {change: func(c *auth.Config) { c.URL = "" }, wrong: true},
		"an address without a scheme":    {change: func(c *auth.Config) { c.URL = "portal.example.test" }, wrong: true},
		"an address with a path":         {change: func(c *auth.Config) { c.URL = "https://portal.example.test/" }, wrong: true},
		"plain http to the world":        {change: func(c *auth.Config) { c.URL = "http://portal.example.test" }, wrong: true},
		"plain http to a loopback alike": {change: func(c *auth.Config) { c.URL = "http://localhost.example.test" }, wrong: true},
		"an issuer by plain http":        {change: func(c *auth.Config) { c.Issuer = "http://id.example.test" }, wrong: true},
		"an issuer with a query":         {change: func(c *auth.Config) { c.Issuer = "https://id.example.test?a=b" }, wrong: true},
		"an issuer with a user":          {change: func(c *auth.Config) { c.Issuer = "https://a:b@id.example.test" }, wrong: true},
		"no client":                      {change: func(c *auth.Config) { c.ClientID = "" }, wrong: true},
		"a short key":                    {change: func(c *auth.Config) { c.Key = c.Key[1:] }, wrong: true},
		"no store":                       {change: func(c *auth.Config) { c.Store = nil }, wrong: true},
		"no pages":                       {change: func(c *auth.Config) { c.Pages = nil }, wrong: true},
		"sessions that end too late":     {change: func(c *auth.Config) { c.Idle, c.Absolute = 2*time.Hour, time.Hour }, wrong: true},
		"sessions that end at once":      {change: func(c *auth.Config) { c.Idle = time.Second }, wrong: true},
		"a prefix of Kubernetes":         {change: func(c *auth.Config) { c.Claims.GroupsPrefix = "System:x" }, wrong: true},
		"a prefix that does not show":    {change: func(c *auth.Config) { c.Claims.UsernamePrefix = "a\u200b" }, wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := auth.Config{
				URL: "https://portal.example.test", Issuer: "https://id.example.test", ClientID: "towpath",
				Key: []byte(strings.Repeat("k", 32)), Store: newMemory(), Pages: pages{},
			}
			test.change(&config)
			_, err := auth.New(t.Context(), config)
			if (err != nil) != test.wrong {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestCookiesOnHTTPS(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	p, b := startPortal(t, h.issuer, func(c *auth.Config) { c.URL = "https://portal.example.test" }), newBrowser(t)
	r := b.get(p.url + "/sign-in")
	var got []http.Cookie
	for _, cookie := range r.cookies {
		name, _, _ := strings.Cut(cookie.Name, "sign-in-")
		got = append(got, http.Cookie{Name: name, Path: cookie.Path, Domain: cookie.Domain, Secure: cookie.Secure, HttpOnly: cookie.HttpOnly, SameSite: cookie.SameSite, MaxAge: cookie.MaxAge})
	}
	want := []http.Cookie{{Name: "__Host-towpath-", Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: 600}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if uri := parse(t, r.location).Query().Get("redirect_uri"); uri != "https://portal.example.test/sign-in/callback" {
		t.Errorf("redirect URI is %q", uri)
	}
}
