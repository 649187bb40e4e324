package browser

import (
	"syscall"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// The API server goes away and comes back: people are told in clear words, and
// what they have entered is still there.
func apiServerGoesAway(t *testing.T, p *portal.Portal) {
	v := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	v.signIn("developer")
	v.sketches("patient", "Development")

	server, err := p.Child("kube-apiserver")
	v.must(err)
	v.must(syscall.Kill(server, syscall.SIGSTOP))
	resume := func() { v.must(syscall.Kill(server, syscall.SIGCONT)) }
	defer resume()
	// The answer comes when the portal gives up on the API server.
	v.press(v.button("Propose and preview"))
	v.awaits(v.heading("Towpath cannot reach Kubernetes"))
	v.awaits(v.page.GetByText("What you entered is not lost"))

	resume()
	v.press(v.button("Send again"))
	v.awaits(v.heading("First version of patient"))
	v.awaits(exactly(v.column("dev"), "Applied"))
	v.open("/compose?namespace=shop&service=patient")
	kept, err := v.image(v.instance("patient")).InputValue()
	v.must(err)
	if kept != "ghcr.io/acme/orders:1.0.0" {
		t.Errorf("what was entered has become %q", kept)
	}
}
