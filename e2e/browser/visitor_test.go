package browser

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

const (
	// patience bounds the wait for what the portal does by itself: it is for a machine
	// that runs all tests at once.
	patience = 4 * time.Minute
	// answering bounds all else that people do: to press a button, to open a page.
	answering = time.Minute
	// glance is how long a page that does not move by itself is looked at before it
	// is loaded again.
	glance = 2 * time.Second
)

// visitor is a person at a browser of their own.
type visitor struct {
	t       *testing.T
	url     string
	context playwright.BrowserContext
	page    playwright.Page
	scripts bool
	// keyboard says that they have no pointer.
	keyboard bool

	mu      sync.Mutex
	trouble []string // what a page must not do: open dialogs, break its own policy
}

// visit opens a browser of its own at the portal. What goes wrong in its pages
// fails the test.
func visit(t *testing.T, address string, options playwright.BrowserNewContextOptions) *visitor {
	t.Helper()
	options.Locale = playwright.String("en-GB")
	// Here the processor draws what moves, and the portal needs it more.
	options.ReducedMotion = playwright.ReducedMotionReduce
	context, err := chromium(t).NewContext(options)
	if err != nil {
		t.Fatal(err)
	}
	context.SetDefaultTimeout(float64(answering.Milliseconds()))
	v := &visitor{t: t, url: address, context: context, scripts: options.JavaScriptEnabled == nil || *options.JavaScriptEnabled}
	t.Cleanup(func() {
		if t.Failed() {
			v.tell()
		}
		if err := context.Close(); err != nil {
			t.Error(err)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, trouble := range v.trouble {
			t.Error("a page did what it must not: " + trouble)
		}
	})
	context.OnPage(v.watch)
	context.OnRequest(func(r playwright.Request) {
		if address, err := url.Parse(r.URL()); err != nil || address.Hostname() != "localhost" {
			v.note("request to elsewhere: " + r.URL())
		}
	})
	v.page, err = context.NewPage()
	v.must(err)
	return v
}

// within makes a visitor part of a subtest until it ends.
func (v *visitor) within(t *testing.T) {
	whole := v.t
	v.t = t
	t.Cleanup(func() {
		if t.Failed() {
			v.tell()
		}
		v.t = whole
	})
}

func (v *visitor) watch(page playwright.Page) {
	page.OnDialog(func(d playwright.Dialog) {
		v.note("dialog: " + d.Message())
		_ = d.Dismiss()
	})
	page.OnPageError(func(err error) { v.note("error of a script: " + err.Error()) })
	page.OnConsole(func(m playwright.ConsoleMessage) {
		// A browser also reports answers that are errors; tests ask for some.
		if m.Type() == "error" && !strings.Contains(m.Text(), "Failed to load resource") {
			v.note("error in the console: " + m.Text())
		}
	})
}

func (v *visitor) note(trouble string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.trouble = append(v.trouble, trouble)
}

// tell says what is on the page, for a test that has failed.
func (v *visitor) tell() {
	v.t.Helper()
	text, err := v.page.Locator("body").AriaSnapshot(playwright.LocatorAriaSnapshotOptions{Timeout: playwright.Float(5000)})
	v.t.Logf("%s shows (%v):\n%s", v.page.URL(), err, text)
}

func (v *visitor) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// open goes to a path of the portal.
func (v *visitor) open(path string) playwright.Response {
	v.t.Helper()
	response, err := v.page.Goto(v.url + path)
	v.must(err)
	return response
}

// signIn opens a page as a person, who chooses their name at the provider.
func (v *visitor) signIn(person string) {
	v.t.Helper()
	v.open("/")
	v.choose(person)
	v.sees(v.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Sign out"}))
}

// choose answers the provider's question who one is.
func (v *visitor) choose(person string) {
	v.t.Helper()
	v.press(v.account(person))
}

// account is the button of a person: their name, then what they do.
func (v *visitor) account(person string) playwright.Locator {
	return v.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: person + " "}).First()
}

// awaits waits until something is there to be seen that the portal brings about by
// itself. Without scripts that takes looking again.
func (v *visitor) awaits(what playwright.Locator) {
	v.t.Helper()
	if v.scripts {
		v.must(what.First().WaitFor(playwright.LocatorWaitForOptions{Timeout: playwright.Float(float64(patience.Milliseconds()))}))
		return
	}
	again := v.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Check again"})
	v.untilSeen(what, func() {
		if found, err := again.Count(); err == nil && found > 0 {
			v.must(again.Click())
		}
	})
}

// sees waits until something is there to be seen in the page that is open, such as
// an answer that no other look at the page would give.
func (v *visitor) sees(what playwright.Locator) {
	v.t.Helper()
	v.must(what.First().WaitFor())
}

// untilSeen looks again and again until something is there to be seen.
func (v *visitor) untilSeen(what playwright.Locator, again func()) {
	v.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		err := what.First().WaitFor(playwright.LocatorWaitForOptions{Timeout: playwright.Float(float64(glance.Milliseconds()))})
		if err == nil {
			return
		}
		if !errors.Is(err, playwright.ErrTimeout) || time.Now().After(deadline) {
			v.t.Fatal(err)
		}
		again()
	}
}

// lacks fails the test if something is there to be seen.
func (v *visitor) lacks(what playwright.Locator, why string) {
	v.t.Helper()
	found, err := what.Count()
	v.must(err)
	if found > 0 {
		v.t.Error(why)
	}
}

// holds fails the test unless a field holds a text.
func (v *visitor) holds(field playwright.Locator, want string) {
	v.t.Helper()
	got, err := field.InputValue()
	v.must(err)
	if got != want {
		v.t.Errorf("what was typed has become %q; want %q", got, want)
	}
}

func (v *visitor) button(name string) playwright.Locator {
	return v.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
}

func (v *visitor) link(name string) playwright.Locator {
	return v.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
}

func (v *visitor) heading(name string) playwright.Locator {
	return v.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: name})
}

// column is a change in one environment, by what people call that.
func (v *visitor) column(environment string) playwright.Locator {
	return v.page.GetByRole("listitem").Filter(playwright.LocatorFilterOptions{
		Has: v.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: environment, Exact: playwright.Bool(true), Level: playwright.Int(2)}),
	})
}

// says is a part of something with a text.
func says(where playwright.Locator, text string) playwright.Locator {
	return where.GetByText(text)
}

// exactly is a part of something with a text and nothing else, such as a status.
func exactly(where playwright.Locator, text string) playwright.Locator {
	return where.GetByText(text, playwright.LocatorGetByTextOptions{Exact: playwright.Bool(true)})
}

// session is the cookies that a person's browser sends, for requests by hand.
func (v *visitor) session() string {
	v.t.Helper()
	cookies, err := v.context.Cookies(v.url)
	v.must(err)
	parts := make([]string, 0, len(cookies))
	for _, c := range cookies {
		parts = append(parts, fmt.Sprintf("%s=%s", c.Name, c.Value))
	}
	return strings.Join(parts, "; ")
}
