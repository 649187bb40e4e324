package browser

import (
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// A plan is made again while two people have the form for its review open: the
// live page warns and keeps what was typed, and the approval that the other page
// sends is refused with the reason. Only the new plan can be signed.
func planIsMadeAgain(t *testing.T, p *portal.Portal) {
	author := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	author.signIn("developer")
	author.sketches("again", "prod")
	author.press(author.button("Propose and preview"))
	author.awaits(exactly(author.column("prod"), "Waiting for review"))

	watcher := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	// The page of the second does not move by itself.
	signer := visit(t, p.URL, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false)})
	watcher.signIn("approver")
	signer.signIn("approver2")
	for _, v := range []*visitor{watcher, signer} {
		v.open(pathOf(author.page.URL()))
		v.awaits(v.button("Approve prod"))
	}
	const comment = "I have read every line of it"
	typed := watcher.column("prod").GetByRole("textbox")
	watcher.fill(typed, comment)

	// What the platform team writes into an environment goes into its plans.
	change := kubectl(t, p.Kubeconfig("platform"), "patch", "environment", "prod", "--type=merge", "-p",
		`{"spec": {"stackTemplate": {"config": {"kubernetes:suppressDeprecationWarnings": "true"}}}}`)
	if said, err := change.CombinedOutput(); err != nil {
		t.Fatalf("kubectl patch: %v\n%s", err, said)
	}
	watcher.awaits(watcher.page.GetByText("The plan was made again while you looked at it. Read it before you sign."))
	watcher.awaits(says(watcher.column("prod"), "the Stack's config changed after the plan was made"))
	watcher.holds(typed, comment)

	signer.press(signer.button("Approve prod"))
	signer.sees(signer.page.GetByText("The plan has changed since you opened the page, so nothing was recorded."))
	signer.lacks(says(signer.column("prod"), "approver2 approved"), "the approval of the old plan counts")
	signer.press(signer.button("Approve prod"))
	signer.awaits(says(signer.column("prod"), "approver2 approved"))
}
