package browser

import (
	"fmt"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// hostile would do harm in a page, a terminal or a reader's head; hostileName does
// so where there is little room.
const (
	hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)> <a href="javascript:alert(3)">here</a> ` +
		"\x1b[31mred\x1b]8;;javascript:alert(4)\x07 \u202eevil\u2066 {{7*7}} ${secret}"
	hostileName = "<img src=x onerror=alert(9)>\x1b[31m\u202e"
)

// People write what means harm wherever they can write anything. It stays text:
// nothing is executed, and every page can be read.
func hostileTexts(t *testing.T, p *portal.Portal) {
	publishHostile(t, p)
	ruleHostile(t, p)
	for _, change := range hostileChanges() {
		apply(t, p, "developer", change)
	}
	developer, approver := visit(t, p.URL, playwright.BrowserNewContextOptions{}), visit(t, p.URL, playwright.BrowserNewContextOptions{})
	developer.signIn("developer")
	approver.signIn("approver")
	for _, v := range []*visitor{developer, approver} {
		v.open("/changes/shop/" + hostileChange)
		v.awaits(exactly(v.column("dev"), "Applied"))
		v.awaits(exactly(v.column("test"), "Waiting for review"))
	}
	// What arrives on a live page comes another way than what was there at first.
	approver.fill(approver.column("test").GetByRole("textbox"), hostile)
	approver.press(approver.button("Comment only"))
	developer.awaits(says(developer.column("test"), "approver commented"))
	developer.awaits(developer.column("test").GetByRole("blockquote").Filter(playwright.LocatorFilterOptions{HasText: `red\x1b]8;;javascript:alert(4)`}))
	developer.isHarmless()

	const (
		asText = "<script>alert(1)</script>"
		asName = `<img src=x onerror=alert(9)>\x1b[31m\u202e`
	)
	for path, text := range map[string]string{
		"/": asText, "/changes": asText, "/services": "constructor", "/environments": asName, "/catalogue": asName,
		"/changes?q=%22%3E%3Cscript%3Ealert(6)%3C/script%3E": "",
		"/changes/shop/" + hostileChange:                     asText,
		"/changes/shop/hostile-refused":                      asName,
		"/services/shop/constructor":                         asName,
		"/compose?namespace=shop&service=constructor":        "constructor",
		"/compose?namespace=shop&change=" + hostileChange:    asText,
		"/compose?namespace=shop&change=hostile-refused":     asText,
		"/compose?path=hostile":                              asName,
		"/golden-paths/hostile":                              "The end of the README.",
	} {
		t.Run(path, func(t *testing.T) {
			developer.within(t)
			developer.open(path)
			developer.reads(text)
		})
	}
	for name, run := range map[string]struct{ change, environment, link, text string }{
		"the run of a preview":            {hostileChange, "test", "Preview", asText},
		"the run of an apply":             {hostileChange, "dev", "Apply", "Succeeded"},
		"the run of a preview that fails": {"hostile-fails", "dev", "Preview", "<img src=x onerror=alert(9)>"},
	} {
		t.Run(name, func(t *testing.T) {
			developer.within(t)
			developer.open("/changes/shop/" + run.change)
			developer.press(developer.column(run.environment).GetByRole("link", playwright.LocatorGetByRoleOptions{Name: run.link, Exact: playwright.Bool(true)}))
			developer.awaits(developer.heading(run.link + " of "))
			developer.reads(run.text)
		})
	}

	approver.fill(approver.column("test").GetByRole("textbox"), hostile)
	approver.press(approver.button("Reject test"))
	approver.awaits(says(approver.column("test"), "approver rejected"))
	approver.reads(asText)
}

// reads fails the test unless a page shows a text, in small windows too, and does
// no harm.
func (v *visitor) reads(text string) {
	v.t.Helper()
	if text != "" {
		v.must(v.page.GetByRole("main").Filter(playwright.LocatorFilterOptions{HasText: text}).WaitFor())
	}
	v.isHarmless()
	v.fitsSmallWindows()
}

// isHarmless fails the test if there is in a page what must not be.
func (v *visitor) isHarmless() {
	v.t.Helper()
	for _, harm := range v.harm() {
		v.t.Error(harm)
	}
}

// harm is what is in a page and must not be: code, links that are code, and
// characters that rule a terminal or turn text around.
func (v *visitor) harm() []string {
	v.t.Helper()
	found, err := v.page.Evaluate(`() => {
		const harm = [];
		for (const e of document.querySelectorAll("*")) {
			for (const a of e.attributes) {
				if (a.name.startsWith("on")) harm.push("a handler: " + e.outerHTML.slice(0, 200));
				if (/^\s*(javascript|data|vbscript):/i.test(a.value) && ["href", "src", "action", "formaction"].includes(a.name)) harm.push("a link that is code: " + e.outerHTML.slice(0, 200));
			}
		}
		for (const e of document.querySelectorAll("script, iframe, object, embed, img, style")) {
			if (!e.src || new URL(e.src).origin !== location.origin) harm.push("an element from a text: " + e.outerHTML.slice(0, 200));
		}
		// Fields hold what was written as it is, or sending the form would change it.
		const page = document.documentElement.cloneNode(true);
		for (const e of page.querySelectorAll("textarea")) e.remove();
		const text = page.textContent;
		const bad = text.match(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
		if (bad) harm.push("a control character U+" + bad[0].charCodeAt(0).toString(16) + " after: " + text.slice(Math.max(0, bad.index - 60), bad.index));
		return harm;
	}`)
	v.must(err)
	var texts []string
	list, _ := found.([]any)
	for _, each := range list {
		texts = append(texts, fmt.Sprint(each))
	}
	return texts
}
