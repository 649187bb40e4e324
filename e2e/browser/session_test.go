package browser

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// A session that ends in the middle of a form costs its sender a sign-in and
// nothing else.
func TestSessionEndsInAForm(t *testing.T) {
	for name, test := range map[string]struct {
		service string
		scripts bool
	}{
		"with scripts":    {service: "kept-live", scripts: true},
		"without scripts": {service: "kept-plain"},
	} {
		t.Run(name, func(t *testing.T) {
			p := sharedPortal(t)
			t.Parallel()
			v := visit(t, p.URL, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(test.scripts)})
			v.signIn("developer")
			v.sketches(test.service, "Development")
			v.must(v.context.ClearCookies())
			v.press(v.button("Propose and preview"))
			v.awaits(v.heading("Your session has ended"))

			tab, err := v.context.ExpectPage(func() error { return v.link("Sign in again (opens a new tab)").Click() })
			v.must(err)
			form := v.page
			v.page = tab
			v.choose("developer")
			v.awaits(v.heading("You are signed in"))
			v.page = form
			v.must(tab.Close())

			v.press(v.button("Send again"))
			v.awaits(v.heading("First version of " + test.service))
			v.awaits(exactly(v.column("dev"), "Applied"))
		})
	}
}
