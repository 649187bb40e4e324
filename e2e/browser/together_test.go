package browser

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// Two people change one service at once: the second is told, keeps what they have
// entered, and decides.
func TestTwoPeopleEdit(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	const service = "orders-two"
	first, second := visit(t, p.URL, playwright.BrowserNewContextOptions{}), visit(t, p.URL, playwright.BrowserNewContextOptions{})
	first.signIn("developer")
	second.signIn("developer2")
	first.sketches(service, "dev")
	first.press(first.button("Propose and preview"))
	first.awaits(exactly(first.column("dev"), "Applied"))

	for _, v := range []*visitor{first, second} {
		v.open("/compose?namespace=shop&service=" + service)
	}
	first.fill(first.image(first.instance(service)), "ghcr.io/acme/orders:1.1.0")
	first.press(first.button("Propose and preview"))
	first.awaits(exactly(first.column("dev"), "Applied"))

	image := second.image(second.instance(service))
	second.fill(image, "ghcr.io/acme/orders:2.0.0")
	second.press(second.button("Propose and preview"))
	second.sees(second.page.GetByText("Somebody has changed this service since you opened the form."))
	second.holds(image, "ghcr.io/acme/orders:2.0.0")
	second.press(second.button("Propose and preview"))
	second.awaits(exactly(second.column("dev"), "Applied"))
	second.press(says(second.column("dev"), "What was applied"))
	second.awaits(second.page.GetByText("ghcr.io/acme/orders:2.0.0").First())
}

// Two people review one plan at once: the second is told that it is decided.
func TestTwoPeopleReview(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	const service = "reviewed-twice"
	author := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	author.signIn("developer")
	author.sketches(service, "dev", "test")
	author.press(author.button("Propose and preview"))
	author.awaits(exactly(author.column("test"), "Waiting for review"))

	// The page of the first does not move by itself.
	first := visit(t, p.URL, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false)})
	second := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	first.signIn("approver")
	second.signIn("approver2")
	for _, v := range []*visitor{first, second} {
		v.open(pathOf(author.page.URL()))
		v.awaits(v.button("Approve test"))
	}
	second.press(second.button("Approve test"))
	second.awaits(exactly(second.column("test"), "Applied"))
	first.press(first.button("Approve test"))
	first.sees(first.page.GetByText("nothing was recorded"))
	first.lacks(first.button("Approve test"), "it offers to approve what is applied")
}
