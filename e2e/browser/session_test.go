package browser

import (
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// A session that ends in the middle of a form costs its sender a sign-in and
// nothing else.
func TestSessionEndsInAForm(t *testing.T) {
	t.Parallel()
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
			v.sketches(test.service, "prod")
			v.must(v.context.ClearCookies())
			v.press(v.button("Propose and preview"))
			v.signsInAgain("developer")
			v.awaits(v.heading("First version of " + test.service))
			v.awaits(exactly(v.column("prod"), "Waiting for review"))
		})
	}
}

// signsInAgain answers the page that says that the session has ended: it signs in
// in another tab and sends the form again.
func (v *visitor) signsInAgain(person string) {
	v.t.Helper()
	v.sees(v.heading("Your session has ended"))
	tab, err := v.context.ExpectPage(func() error { return v.link("Sign in again (opens a new tab)").Click() })
	v.must(err)
	form := v.page
	v.page = tab
	v.choose(person)
	v.sees(v.heading("You are signed in"))
	v.page = form
	v.must(tab.Close())
	v.press(v.button("Send again"))
}

// A session whose Secret is deleted in the cluster has ended, whatever the
// browser holds; the form is there again after the sign-in, as it was typed.
func sessionIsDeleted(t *testing.T, p *portal.Portal) {
	v := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	v.signIn("developer")
	v.sketches("deleted", "test", "prod")
	const description = "First version of deleted.\n\nWith \"quotes\", <b>signs</b> & ünïcödé."
	v.fill(v.page.GetByLabel("What is the change for?"), description)

	admin, err := p.AdminKubeconfig()
	v.must(err)
	if said, err := kubectl(t, admin, "delete", "secret", "-n", "towpath-system", "-l", "towpath.dev/session").CombinedOutput(); err != nil {
		t.Fatalf("kubectl delete: %v\n%s", err, said)
	}
	v.awaitsSignedOut()

	v.fill(v.page.GetByLabel("Its name"), "second")
	v.press(v.button("Add Web service"))
	v.signsInAgain("developer")
	v.sees(v.instance("second"))
	v.holds(v.page.GetByLabel("Name of the service"), "deleted")
	v.holds(v.page.GetByLabel("What is the change for?"), description)
	v.holds(v.image(v.instance("deleted")), "ghcr.io/acme/orders:1.0.0")
	for environment, want := range map[string]bool{"dev": false, "test": true, "prod": true} {
		chosen, err := v.page.GetByRole("checkbox", playwright.PageGetByRoleOptions{Name: environment}).IsChecked()
		v.must(err)
		if chosen != want {
			t.Errorf("%s is chosen: %t, want %t", environment, chosen, want)
		}
	}
}

// awaitsSignedOut opens the first page in another tab until it asks who one is: the
// portal believes for some seconds what it knows of a session.
func (v *visitor) awaitsSignedOut() {
	v.t.Helper()
	form := v.page
	tab, err := v.context.NewPage()
	v.must(err)
	v.page = tab
	v.untilSeen(v.account("developer"), func() { v.open("/") })
	v.page = form
	v.must(tab.Close())
}
