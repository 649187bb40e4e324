package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// A form that is sent after its session has ended comes back, and is sent again
// by its button once the person has signed in.
func TestASessionThatEndsInTheMiddleOfAForm(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "other", "developer")
	path := "/changes/" + one.namespace + "/" + cr.Name
	const typed = "I looked at it for an hour.\r\n  It is “fine” & <good>."
	approver := p.signedIn(t, "approver")
	p.clock.advance(longAgo)

	ended := approver.post(t, path+"/comment", url.Values{"environment": {"test"}, "planDigest": {digest}, "comment": {typed}})
	if ended.StatusCode != http.StatusUnauthorized {
		t.Fatalf("it gets %d; want %d", ended.StatusCode, http.StatusUnauthorized)
	}
	contains(t, ended.text(t), "Your session has ended")
	document := ended.document(t)
	form := document.Find("main form[method=post]")
	kept := url.Values{}
	form.Find("input[type=hidden]").Each(func(_ int, field *goquery.Selection) {
		kept.Add(field.AttrOr("name", ""), field.AttrOr("value", ""))
	})
	// HTML has one way to end a line; browsers send the other again.
	if got := strings.ReplaceAll(kept.Get("comment"), "\n", "\r\n"); got != typed {
		t.Errorf("the page keeps %q; want %q", got, typed)
	}
	if got := form.AttrOr("action", ""); got != path+"/comment" {
		t.Errorf("it would be sent to %q", got)
	}
	if link := document.Find("main a[target=_blank]").AttrOr("href", ""); !strings.HasPrefix(link, "/sign-in?next=") {
		t.Errorf("signing in is at %q", link)
	}
	if reviews := reviewsOf(t, cr); len(reviews) > 0 {
		t.Errorf("it was recorded without a session: %v", reviews)
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	p := startPortal(t)
	newTeam(t)
	developer := p.signedIn(t, "developer")
	for path, status := range map[string]int{"/": ok, "/nothing": missing, "/changes/none/none": missing, "/healthz": ok, "/golden-paths/postgres": ok} {
		answer := developer.get(t, path)
		if answer.StatusCode != status {
			t.Errorf("%s gets %d; want %d", path, answer.StatusCode, status)
		}
		policy := answer.Header.Get("Content-Security-Policy")
		for _, rule := range []string{"default-src 'none'", "script-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, rule) {
				t.Errorf("%s: the policy %q has no %q", path, policy, rule)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q; want %q", path, header, got, want)
			}
		}
		id := answer.Header.Get("X-Request-Id")
		if id == "" {
			t.Errorf("%s has no request id", path)
		}
		if status == missing && !strings.Contains(answer.body, id) {
			t.Errorf("%s does not show its request id", path)
		}
	}
}

func TestTheLogHasNothingThatPeopleType(t *testing.T) {
	t.Parallel()
	p := startPortal(t)
	newTeam(t)
	developer := p.signedIn(t, "developer")
	developer.get(t, "/changes?q=canary-in-a-query")
	developer.post(t, "/compose", url.Values{"action": {"preview"}, "secret.x.y.dev": {"canary-in-a-form"}, "description": {"canary-in-a-form"}})
	log := p.log.String()
	for _, canary := range []string{"canary", "code=", "state=", "Cookie", "towpath-session"} {
		if strings.Contains(log, canary) {
			t.Errorf("the log has %q:\n%s", canary, log)
		}
	}
	contains(t, log, `"route":"/changes"`)
	contains(t, log, `"user":"developer"`)
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	approver, developer := p.signedIn(t, "approver"), p.signedIn(t, "developer")
	path := "/changes/" + one.namespace + "/" + cr.Name + "/comment"
	if answer := approver.post(t, path, said(strings.Repeat("x", 2<<20))); answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of 2 MiB gets %d", answer.StatusCode)
	}
	if answer := developer.post(t, "/compose", url.Values{"rest": {strings.Repeat("x", 5<<20)}}); answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a composition of 5 MiB gets %d", answer.StatusCode)
	}
	if answer := developer.post(t, "/compose", url.Values{"rest": {"no JSON"}}); answer.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a composition that cannot be read gets %d", answer.StatusCode)
	}
}
