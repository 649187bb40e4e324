package browser

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// A plan on paper is the plan alone, to its last property: what is folded on the
// screen is open, and what can only be pressed is not there.
func TestPrintedPlan(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	v := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	change := stage(t, p)
	v.signIn("approver")
	v.open(change)
	v.awaits(v.button("Approve prod"))

	buttons := map[string]playwright.Locator{
		"the navigation":        v.page.GetByRole("navigation", playwright.PageGetByRoleOptions{Name: "Main"}),
		"signing out":           v.button("Sign out"),
		"the form of a review":  v.column("prod").GetByRole("textbox"),
		"the button to approve": v.button("Approve prod"),
		"how fresh the page is": v.page.GetByText("Live: this page keeps itself up to date."),
		"the history":           v.heading("What happened"),
	}
	folded := map[string]playwright.Locator{}
	for _, environment := range []string{"dev", "test", "prod"} {
		folded["the image in "+environment] = says(v.column(environment), "ghcr.io/acme/orders:1.0.0")
	}
	for name, button := range buttons {
		v.must(button.First().WaitFor())
		v.shows(name, button, true)
	}
	for name, property := range folded {
		v.shows(name, property, false)
	}

	v.must(v.page.EmulateMedia(playwright.PageEmulateMediaOptions{Media: playwright.MediaPrint}))
	for name, button := range buttons {
		v.shows(name, button, false)
	}
	for name, property := range folded {
		v.shows(name, property, true)
	}
	for _, environment := range []string{"dev", "test", "prod"} {
		v.shows(environment, v.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: environment, Exact: playwright.Bool(true), Level: playwright.Int(2)}), true)
	}
}

// shows fails the test unless something is there to be seen, or is not.
func (v *visitor) shows(name string, what playwright.Locator, want bool) {
	v.t.Helper()
	seen, err := what.First().IsVisible()
	v.must(err)
	if seen != want {
		v.t.Errorf("%s: to be seen %t, want %t", name, seen, want)
	}
}
