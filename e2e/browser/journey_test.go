package browser

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// A service goes from an empty form to production, with two people at browsers.
func TestJourney(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		service           string
		scripts, keyboard bool
	}{
		"with scripts":          {service: "orders-live", scripts: true},
		"without scripts":       {service: "orders-plain"},
		"by the keyboard alone": {service: "orders-keys", scripts: true, keyboard: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := sharedPortal(t)
			t.Parallel()
			options := playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(test.scripts)}
			developer, approver := visit(t, p.URL, options), visit(t, p.URL, options)
			developer.keyboard, approver.keyboard = test.keyboard, test.keyboard

			developer.signIn("developer")
			developer.composes(test.service)
			developer.press(developer.button("Propose and preview"))
			developer.awaits(developer.heading("First version of " + test.service))
			developer.awaits(exactly(developer.column("dev"), "Applied"))
			developer.awaits(exactly(developer.column("test"), "Waiting for review"))
			developer.awaits(exactly(developer.column("prod"), "Waiting for review"))
			developer.awaits(says(developer.column("test"), "Who can act"))
			developer.lacks(developer.button("Approve test"), "the author is offered to approve")
			developer.cannotForce("test")

			approver.signIn("approver")
			approver.press(approver.link("First version of " + test.service + ".").First())
			for _, environment := range []string{"test", "prod"} {
				approver.press(approver.button("Approve " + environment))
				approver.awaits(says(approver.column(environment), "Approved by approver"))
			}
			approver.awaits(exactly(approver.column("prod"), "Applied"))

			developer.awaits(exactly(developer.column("prod"), "Applied"))
			developer.press(developer.link(test.service).First())
			developer.awaits(developer.heading(test.service))
			developer.runsEverywhere()
		})
	}
}

// cannotForce sends an approval that no page offers, as a script of the author
// could.
func (v *visitor) cannotForce(environment string) {
	v.t.Helper()
	form := url.Values{}
	for _, field := range []string{"environment", "planDigest"} {
		// No person reads these fields; the form sends them.
		value, err := v.column(environment).Locator("input[name=" + field + "]").GetAttribute("value")
		v.must(err)
		form.Set(field, value)
	}
	answer := v.post(pathOf(v.page.URL())+"/approve", form)
	if answer.status != http.StatusForbidden || !strings.Contains(answer.text, "The author of a change cannot approve it") {
		v.t.Errorf("the author's own approval, sent by hand: status %d; want 403 and why:\n%s", answer.status, answer.text)
	}
}

func pathOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return address
	}
	return parsed.Path
}

type answer struct {
	status int
	text   string
}

// post sends a form by hand, with the cookies of a person's browser.
func (v *visitor) post(path string, form url.Values) answer {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.url+path, strings.NewReader(form.Encode()))
	v.must(err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", v.session())
	request.Header.Set("Origin", v.url)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	v.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	v.must(err)
	return answer{status: response.StatusCode, text: string(text)}
}

// runsEverywhere reads the page of a service: what runs where.
func (v *visitor) runsEverywhere() {
	v.t.Helper()
	for _, environment := range []string{"dev", "test", "prod"} {
		place := v.page.GetByRole("listitem").Filter(playwright.LocatorFilterOptions{
			Has: v.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: environment, Exact: playwright.Bool(true)}),
		})
		v.awaits(says(place, "Healthy"))
	}
}
