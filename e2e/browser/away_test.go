package browser

import (
	"syscall"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// outage is how long the API server is away, at least.
const outage = 30 * time.Second

// The API server goes away for half a minute while one person fills in a form,
// another reads a live page and a third opens one: all are told in clear words,
// nothing typed is lost, and the live page goes on by itself.
func apiServerGoesAway(t *testing.T, p *portal.Portal) {
	options := playwright.BrowserNewContextOptions{}
	author, reviewer, reader := visit(t, p.URL, options), visit(t, p.URL, options), visit(t, p.URL, options)
	author.signIn("developer")
	author.sketches("watched", "prod")
	author.press(author.button("Propose and preview"))
	author.awaits(exactly(author.column("prod"), "Waiting for review"))
	change := pathOf(author.page.URL())

	const comment = "Looks good, but I am still"
	reviewer.signIn("approver")
	reviewer.open(change)
	typed := reviewer.column("prod").GetByRole("textbox")
	reviewer.fill(typed, comment)
	live := reviewer.page.GetByText("Live: this page keeps itself up to date.")
	reviewer.awaits(live)
	reader.signIn("approver2")
	author.sketches("patient", "dev")

	server, err := p.Child("kube-apiserver")
	author.must(err)
	author.must(syscall.Kill(server, syscall.SIGSTOP))
	over := time.After(outage)
	resume := func() { author.must(syscall.Kill(server, syscall.SIGCONT)) }
	defer resume()

	const words = "Towpath cannot reach Kubernetes"
	author.press(author.button("Propose and preview"))
	for range 2 { // trying again does not lose it either
		author.sees(author.heading(words))
		author.sees(author.page.GetByText("What you entered is not lost"))
		author.press(author.button("Send again"))
	}
	author.sees(author.heading(words))
	reader.open(change)
	reader.sees(reader.heading(words))
	reviewer.awaits(reviewer.page.GetByText("Not live: the connection is gone."))
	reviewer.holds(typed, comment)
	<-over

	resume()
	reviewer.awaits(live)
	reader.open(change)
	reader.fill(reader.column("prod").GetByRole("textbox"), "Back again.")
	reader.press(reader.button("Comment only"))
	reviewer.awaits(says(reviewer.column("prod"), "Back again."))
	reviewer.holds(typed, comment) // the page is the one that it was typed into

	author.press(author.button("Send again"))
	author.awaits(author.heading("First version of patient"))
	author.awaits(exactly(author.column("dev"), "Applied"))
	author.open("/compose?namespace=shop&service=patient")
	author.holds(author.image(author.instance("patient")), "ghcr.io/acme/orders:1.0.0")
}
