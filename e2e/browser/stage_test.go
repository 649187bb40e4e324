package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// staged is the change of the example, which pages are looked at with: applied in
// dev and test, waiting in prod.
var staged struct {
	once sync.Once
	path string
}

var proposedAs = regexp.MustCompile(`Proposed as (\S+)\.`)

// stage proposes the example that the README begins with, once, and returns the
// path of its change.
func stage(t *testing.T, p *portal.Portal) string {
	t.Helper()
	staged.once.Do(func() {
		path := "/changes/shop/" + proposeExample(t, p)
		approver := visit(t, p.URL, playwright.BrowserNewContextOptions{})
		approver.signIn("approver")
		approver.open(path)
		approver.press(approver.button("Approve test"))
		approver.awaits(exactly(approver.column("test"), "Applied"))
		approver.awaits(approver.button("Approve prod"))
		staged.path = path
	})
	if staged.path == "" {
		t.Fatal("the example is not there")
	}
	return staged.path
}

func proposeExample(t *testing.T, p *portal.Portal) string {
	t.Helper()
	root, err := portal.Root()
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join(root, "docs", "examples", "orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	propose := p.Towpath(t.Context(), "developer", "propose", "-")
	propose.Stdin = strings.NewReader(string(example))
	said, err := propose.CombinedOutput()
	name := proposedAs.FindSubmatch(said)
	if err != nil || name == nil {
		t.Fatalf("propose the example: %v\n%s", err, said)
	}
	return string(name[1])
}

// aPage is a page of the portal, reached as people reach it.
type aPage struct {
	name string
	open func(v *visitor)
}

// pages are all pages, seen by a person who may do most of what they offer.
func pages(change string) []aPage {
	at := func(path string) func(*visitor) {
		return func(v *visitor) { v.open(path) }
	}
	return []aPage{
		{"home", at("/")},
		{"changes", at("/changes")},
		{"change", at(change)},
		{"services", at("/services")},
		{"service", at("/services/shop/orders")},
		{"run", func(v *visitor) {
			v.open(change)
			v.must(v.column("test").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "Apply", Exact: playwright.Bool(true)}).Click())
			v.sees(v.heading("Apply of orders in test"))
		}},
		{"environments", at("/environments")},
		{"catalogue", at("/catalogue")},
		{"golden-path", at("/golden-paths/postgres")},
		{"not-found", at("/changes/shop/there-is-none")},
	}
}

// forms are the pages of those who propose.
func forms() []aPage {
	return []aPage{
		{"compose-empty", func(v *visitor) { v.open("/compose") }},
		{"compose", func(v *visitor) { v.open("/compose?namespace=shop&service=orders") }},
		{"compose-problems", func(v *visitor) {
			v.open("/compose?path=web-service")
			v.press(v.button("Propose and preview"))
			v.sees(v.page.GetByRole("alert"))
		}},
	}
}

// outside are the pages of those who are not signed in.
func outside() []aPage {
	return []aPage{
		{"sign-in", func(v *visitor) { v.open("/") }},
		{"signed-out", func(v *visitor) { v.open("/signed-out") }},
	}
}
