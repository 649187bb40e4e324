package issuer_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"github.com/towpath-dev/towpath/internal/dev/issuer"
)

const (
	portal   = "http://127.0.0.1:4"
	redirect = portal + "/sign-in/callback"
	after    = portal + "/signed-out"
)

// startIssuer serves an issuer that keeps its key in dir.
func startIssuer(t *testing.T, dir string) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	address := "http://" + server.Listener.Addr().String()
	handler, err := issuer.New(issuer.Config{
		URL: address, Dir: dir, ClientID: "towpath", RedirectURL: redirect, PostLogoutURL: after,
		People: []issuer.Person{
			{Username: "developer", Name: "Developer", Does: "proposes changes", Groups: []string{"developer"}},
			{Username: "approver", Name: "Approver", Does: "reviews changes", Groups: []string{"approver", "viewer"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	return address
}

// client is a browser that stops where the issuer sends it elsewhere.
type client struct {
	t *testing.T
	http.Client
}

func newClient(t *testing.T) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	c.Jar = jar
	c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), portal+"/") {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return c
}

type reply struct {
	*http.Response
	body string
}

func (c *client) send(method, address string, form url.Values, header http.Header) reply {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := c.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply{response, string(body)}
}

func (c *client) get(address string) reply {
	c.t.Helper()
	return c.send(http.MethodGet, address, nil, nil)
}

// relyingParty is the portal as go-oidc and oauth2 play it.
type relyingParty struct {
	oauth    oauth2.Config
	provider *oidc.Provider
	verifier string
}

func newRelyingParty(t *testing.T, address string) *relyingParty {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInParams
	return &relyingParty{
		provider: provider, verifier: oauth2.GenerateVerifier(),
		oauth: oauth2.Config{ClientID: "towpath", Endpoint: endpoint, RedirectURL: redirect, Scopes: []string{"openid", "profile"}},
	}
}

func (p *relyingParty) url() string {
	return p.oauth.AuthCodeURL("the-state", oidc.Nonce("the-nonce"), oauth2.S256ChallengeOption(p.verifier))
}

// code lets a person sign in and returns the code that the portal gets.
func (p *relyingParty) code(t *testing.T, username string) string {
	t.Helper()
	c := newClient(t)
	page := c.get(p.url())
	back := c.send(http.MethodPost, action(t, page), chosen(t, page, username), nil)
	location, err := back.Location()
	if err != nil {
		t.Fatalf("%s: %d %s", username, back.StatusCode, back.body)
	}
	if got := location.Query().Get("state"); got != "the-state" {
		t.Errorf("state is %q", got)
	}
	return location.Query().Get("code")
}

func (p *relyingParty) redeem(ctx context.Context, code string) (raw string, err error) {
	token, err := p.oauth.Exchange(ctx, code, oauth2.VerifierOption(p.verifier))
	if err != nil {
		return "", err
	}
	raw, _ = token.Extra("id_token").(string)
	return raw, nil
}

// action is where the form on a page goes.
func action(t *testing.T, page reply) string {
	t.Helper()
	to, ok := document(t, page).Find("form").Attr("action")
	if !ok {
		t.Fatalf("the page has no form: %s", page.body)
	}
	u, err := page.Request.URL.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return u.String()
}

// chosen is the form on a page after its button for a person is pressed.
func chosen(t *testing.T, page reply, username string) url.Values {
	t.Helper()
	form := url.Values{}
	document(t, page).Find("form input[type=hidden]").Each(func(_ int, input *goquery.Selection) {
		form.Add(input.AttrOr("name", ""), input.AttrOr("value", ""))
	})
	if document(t, page).Find("form button[name=username][value="+username+"]").Length() != 1 {
		t.Fatalf("the page has no button for %q: %s", username, page.body)
	}
	form.Set("username", username)
	return form
}

func document(t *testing.T, page reply) *goquery.Document {
	t.Helper()
	parsed, err := goquery.NewDocumentFromReader(strings.NewReader(page.body))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestPeopleSignIn(t *testing.T) {
	t.Parallel()
	p := newRelyingParty(t, startIssuer(t, t.TempDir()))
	code := p.code(t, "approver")
	raw, err := p.redeem(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.provider.Verifier(&oidc.Config{ClientID: "towpath"}).Verify(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Username string   `json:"preferred_username"`
		Name     string   `json:"name"`
		Groups   []string `json:"groups"`
		Nonce    string   `json:"nonce"`
		Party    string   `json:"azp"`
	}
	if err := token.Claims(&got); err != nil {
		t.Fatal(err)
	}
	want := got
	want.Username, want.Name, want.Groups, want.Nonce, want.Party = "approver", "Approver", []string{"approver", "viewer"}, "the-nonce", "towpath"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := p.redeem(t.Context(), code); err == nil {
		t.Error("a code is good twice")
	}
}

func TestAnotherVerifierUsesTheCodeUp(t *testing.T) {
	t.Parallel()
	p := newRelyingParty(t, startIssuer(t, t.TempDir()))
	code := p.code(t, "developer")
	mine := p.verifier
	for _, verifier := range []string{oauth2.GenerateVerifier(), mine} {
		p.verifier = verifier
		if _, err := p.redeem(t.Context(), code); err == nil {
			t.Error("the code is good")
		}
	}
}

func TestSignInPage(t *testing.T) {
	t.Parallel()
	p := newRelyingParty(t, startIssuer(t, t.TempDir()))
	c := newClient(t)
	page := c.get(p.url())
	if !strings.Contains(page.body, "for development") {
		t.Errorf("the page does not say that it is for development: %s", page.body)
	}
	if n := document(t, page).Find("form[method=post] button").Length(); n != 2 {
		t.Errorf("the page has %d buttons", n)
	}
	if n := document(t, page).Find("script:not([src]), style, [style]").Length(); n != 0 {
		t.Errorf("the page has %d inline scripts or styles", n)
	}
	document(t, page).Find("link[rel=stylesheet], script[src]").Each(func(_ int, s *goquery.Selection) {
		to, err := page.Request.URL.Parse(s.AttrOr("href", s.AttrOr("src", "")))
		if err != nil {
			t.Fatal(err)
		}
		if r := c.get(to.String()); r.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d", to, r.StatusCode)
		}
	})
	for _, part := range []string{"default-src 'none'", "form-action 'self' " + portal, "frame-ancestors 'none'"} {
		if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, part) {
			t.Errorf("policy %q lacks %q", policy, part)
		}
	}

	form := chosen(t, page, "developer")
	form.Set("username", "root")
	if r := c.send(http.MethodPost, action(t, page), form, nil); r.StatusCode != http.StatusUnprocessableEntity || strings.Contains(r.body, "root") {
		t.Errorf("an unknown person: %d %s", r.StatusCode, r.body)
	}
	form.Set("username", "developer")
	if r := c.send(http.MethodPost, action(t, page), form, http.Header{"Sec-Fetch-Site": {"cross-site"}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("another site's form: %d", r.StatusCode)
	}
	if r := c.send(http.MethodPost, action(t, page), form, nil); r.StatusCode != http.StatusFound {
		t.Errorf("a person: %d %s", r.StatusCode, r.body)
	}
	for name, r := range map[string]reply{
		"a form sent twice":        c.send(http.MethodPost, action(t, page), form, nil),
		"the page shown once more": c.get(page.Request.URL.String()),
		"a page for nothing":       c.get(p.oauth.Endpoint.AuthURL[:strings.LastIndex(p.oauth.Endpoint.AuthURL, "/")] + "/sign-in?id=none"),
	} {
		if r.StatusCode != http.StatusNotFound || document(t, r).Find("button[name=username]").Length() != 0 {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
}

func TestRequestsAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(url.Values){
		"without a code challenge":     func(v url.Values) { v.Del("code_challenge") },
		"with a plain code challenge":  func(v url.Values) { v.Set("code_challenge_method", "plain") },
		"of another client":            func(v url.Values) { v.Set("client_id", "other") },
		"back to another place":        func(v url.Values) { v.Set("redirect_uri", "https://evil.example.test/sign-in/callback") },
		"back to another port":         func(v url.Values) { v.Set("redirect_uri", "http://127.0.0.1:5/sign-in/callback") },
		"back to a longer path":        func(v url.Values) { v.Set("redirect_uri", redirect+"/x") },
		"back with a query":            func(v url.Values) { v.Set("redirect_uri", redirect+"?next=x") },
		"for a token in the front":     func(v url.Values) { v.Set("response_type", "id_token") },
		"for no OpenID Connect at all": func(v url.Values) { v.Set("scope", "profile") },
		"without a person to ask":      func(v url.Values) { v.Set("prompt", "none") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newRelyingParty(t, startIssuer(t, t.TempDir()))
			u, err := url.Parse(p.url())
			if err != nil {
				t.Fatal(err)
			}
			query := u.Query()
			change(query)
			u.RawQuery = query.Encode()
			r := newClient(t).get(u.String())
			location, err := r.Location()
			if err == nil && (!strings.HasPrefix(location.String(), redirect+"?") || location.Query().Get("error") == "" || location.Query().Has("code")) {
				t.Errorf("answers %d to %s", r.StatusCode, location)
			}
			if err != nil && r.StatusCode != http.StatusBadRequest {
				t.Errorf("answers %d: %s", r.StatusCode, r.body)
			}
		})
	}
}

func TestSigningOut(t *testing.T) {
	t.Parallel()
	address := startIssuer(t, t.TempDir())
	p := newRelyingParty(t, address)
	hint, err := p.redeem(t.Context(), p.code(t, "developer"))
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		End string `json:"end_session_endpoint"`
	}
	if err := p.provider.Claims(&description); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		query url.Values
		want  string
	}{
		"back to the portal": {url.Values{"id_token_hint": {hint}, "client_id": {"towpath"}, "post_logout_redirect_uri": {after}}, after},
		"without a hint":     {url.Values{"client_id": {"towpath"}, "post_logout_redirect_uri": {after}}, after},
		"to another place":   {url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {"https://evil.example.test/"}}, ""},
	} {
		r := newClient(t).get(description.End + "?" + test.query.Encode())
		if got := r.Header.Get("Location"); got != test.want {
			t.Errorf("%s: answers %d to %q, want %q", name, r.StatusCode, got, test.want)
		}
	}
}

func TestOnlyItsOwnName(t *testing.T) {
	t.Parallel()
	address := startIssuer(t, t.TempDir())
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r := newClient(t).get("http://localhost:" + u.Port() + "/.well-known/openid-configuration")
	if r.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("answers %d: %s", r.StatusCode, r.body)
	}
}

func TestTheKeyIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := func() string {
		return newClient(t).get(startIssuer(t, dir) + "/keys").body
	}
	first := keys()
	if again := keys(); again != first {
		t.Errorf("the keys of the next start are %s, were %s", again, first)
	}
	path := filepath.Join(dir, "issuer-key.pem")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key's mode is %s", info.Mode())
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	if fresh := keys(); fresh == first || !strings.Contains(fresh, "ES256") {
		t.Errorf("after the file was cut off the keys are %s", fresh)
	}
}
