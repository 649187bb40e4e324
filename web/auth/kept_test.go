package auth_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/web/auth"
)

const signInElsewhere = "/sign-in?next=%2Fsigned-in"

func TestAFormOutlivesItsSession(t *testing.T) {
	t.Parallel()
	h, p, b := start(t)
	const away = 3 * time.Hour
	p.clock.pass(away)
	claim("exp", p.clock.Now().Add(time.Hour).Unix())(h)
	form := url.Values{"name": {"orders"}, "environment": {"dev", "prod", "dev"}, "yaml": {"a: <b>\n\"c\": é\u202e"}}
	r := b.post(p.url+"/changes?step=2", form)
	if r.status != http.StatusUnauthorized {
		t.Fatalf("answers %d: %s", r.status, r.body)
	}
	var kept auth.KeptForm
	if err := json.Unmarshal([]byte(r.body), &kept); err != nil {
		t.Fatal(err)
	}
	want := auth.KeptForm{
		Action: "/changes?step=2", Kept: true, SignIn: signInElsewhere,
		Fields: []auth.Field{
			{Name: "environment", Value: "dev"},
			{Name: "environment", Value: "prod"},
			{Name: "environment", Value: "dev"},
			{Name: "name", Value: "orders"},
			{Name: "yaml", Value: "a: <b>\n\"c\": é\u202e"},
		},
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}

	// The way on: sign in where the page says, then send it again as it is.
	signIn := b.get(p.url + kept.SignIn)
	h.asked = parse(t, signIn.location).Query()
	done := b.get(callback(p, url.Values{"state": {h.asked.Get("state")}, "code": {"c0de"}}))
	if page := b.get(p.url + done.location); page.body != "signed in" {
		t.Errorf("the sign-in ends at %q: %s", done.location, page.body)
	}
	again := url.Values{}
	for _, field := range kept.Fields {
		again.Add(field.Name, field.Value)
	}
	if diff := cmp.Diff(form, again); diff != "" {
		t.Errorf("what is sent again (-want +got)\n%s", diff)
	}
	if r := b.post(p.url+kept.Action, again); r.status != http.StatusOK || r.body != "ana of developer" {
		t.Errorf("sent again: %d %s", r.status, r.body)
	}
}

func TestWithoutASession(t *testing.T) {
	t.Parallel()
	lost := `{"Action":"/changes","Fields":null,"Kept":false,"SignIn":"` + signInElsewhere + `"}`
	for name, test := range map[string]struct {
		method, path string
		form         url.Values
		header       map[string]string
		status       int
		location     string
		body         string
	}{
		"a page leads to the sign-in and back": {
			method: http.MethodGet, path: "/changes/shop/orders?tab=plan", status: http.StatusSeeOther,
			location: "/sign-in?next=%2Fchanges%2Fshop%2Forders%3Ftab%3Dplan",
		},
		"so does a look at its head": {
			method: http.MethodHead, path: "/", status: http.StatusSeeOther, location: "/sign-in?next=%2F",
		},
		"events are refused": {
			method: http.MethodGet, path: "/changes", header: map[string]string{"Accept": "text/event-stream"},
			status: http.StatusUnauthorized, body: "no-session: Sign in first. Code: no-session.",
		},
		"other methods are refused": {
			method: http.MethodDelete, path: "/changes", status: http.StatusUnauthorized, body: "no-session: Sign in first. Code: no-session.",
		},
		"a form of another site is refused": {
			method: http.MethodPost, path: "/changes", form: url.Values{"a": {"b"}}, header: map[string]string{"Sec-Fetch-Site": "cross-site"},
			status: http.StatusForbidden, body: "cross-origin: This came from another site. Open the page here and send it from there. Code: cross-origin.",
		},
		"a form of another origin is refused": {
			method: http.MethodPost, path: "/changes", form: url.Values{"a": {"b"}}, header: map[string]string{"Origin": "https://evil.example.test"},
			status: http.StatusForbidden, body: "cross-origin: This came from another site. Open the page here and send it from there. Code: cross-origin.",
		},
		"a form of another kind is not kept": {
			method: http.MethodPost, path: "/changes", form: url.Values{"a": {"b"}}, header: map[string]string{"Content-Type": "text/plain"},
			status: http.StatusUnauthorized, body: lost,
		},
		"a form without end is not kept": {
			method: http.MethodPost, path: "/changes", form: url.Values{"a": {strings.Repeat("b", 5<<20)}},
			status: http.StatusUnauthorized, body: lost,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHostile(t)
			p, b := startPortal(t, h.issuer), newBrowser(t)
			for key, value := range test.header {
				b.header.Set(key, value)
			}
			r := b.send(test.method, p.url+test.path, test.form)
			got := []any{r.status, r.location, strings.TrimSpace(r.body)}
			if diff := cmp.Diff([]any{test.status, test.location, test.body}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if r.header.Get("Cache-Control") != "no-store" {
				t.Error("the answer may be stored")
			}
			if n := p.store.asked(); n != 0 {
				t.Errorf("the session store was asked %d times", n)
			}
		})
	}
}
