package auth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/towpath-dev/towpath/internal/dev/issuer"
	"github.com/towpath-dev/towpath/web/auth"
)

// realIssuer serves the provider of towpath dev for a portal.
func realIssuer(t *testing.T) func(portal string) string {
	t.Helper()
	return func(portal string) string {
		server := httptest.NewUnstartedServer(nil)
		address := "http://" + server.Listener.Addr().String()
		handler, err := issuer.New(issuer.Config{
			URL: address, Dir: t.TempDir(), ClientID: "towpath",
			RedirectURL: portal + auth.CallbackPath, PostLogoutURL: portal + auth.SignedOutPath,
			People: []issuer.Person{
				{Username: "developer", Name: "Developer", Groups: []string{"developer"}},
				{Username: "approver", Name: "Approver", Groups: []string{"approver"}},
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
}

// follow goes where an answer leads, until one is a page.
func (b *browser) follow(r reply, from string) (reply, string) {
	b.t.Helper()
	for range 10 {
		if r.location == "" {
			return r, from
		}
		to, err := parse(b.t, from).Parse(r.location)
		if err != nil {
			b.t.Fatal(err)
		}
		from = to.String()
		r = b.get(from)
	}
	b.t.Fatalf("sent around without end, at last to %s", from)
	return reply{}, ""
}

// choose presses a person's button on the sign-in page.
func (b *browser) choose(page reply, at, username string) (reply, string) {
	b.t.Helper()
	document, err := goquery.NewDocumentFromReader(strings.NewReader(page.body))
	if err != nil {
		b.t.Fatal(err)
	}
	form := url.Values{"username": {username}}
	document.Find("form input[type=hidden]").Each(func(_ int, input *goquery.Selection) {
		form.Set(input.AttrOr("name", ""), input.AttrOr("value", ""))
	})
	to, err := parse(b.t, at).Parse(document.Find("form").AttrOr("action", ""))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.follow(b.post(to.String(), form), to.String())
}

func TestTheWholeWayWithARealProvider(t *testing.T) {
	t.Parallel()
	p := startPortal(t, realIssuer(t))
	var wait sync.WaitGroup
	for _, username := range []string{"developer", "approver"} {
		b := newBrowser(t)
		wait.Go(func() {
			const wanted = "/changes/shop/orders?tab=plan"
			page, at := b.follow(b.get(p.url+wanted), p.url+wanted)
			page, at = b.choose(page, at, username)
			if page.status != http.StatusOK || at != p.url+wanted || page.body != username+" of "+username {
				t.Errorf("%s is at %s: %d %s", username, at, page.status, page.body)
			}
			out := b.post(p.url+"/sign-out", url.Values{})
			_, to, _ := strings.Cut(out.header.Get("Refresh"), "url=")
			page, at = b.follow(b.get(to), to)
			if page.status != http.StatusOK || at != p.url+"/signed-out" {
				t.Errorf("%s signed out is at %s: %d %s", username, at, page.status, page.body)
			}
			if page, _ = b.follow(b.get(p.url+"/"), p.url+"/"); !strings.Contains(page.body, "for development") {
				t.Errorf("%s signed out sees %d %s", username, page.status, page.body)
			}
		})
	}
	wait.Wait()
}
