package browser

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// themes are how readers may have set their system.
var themes = []*playwright.ColorScheme{playwright.ColorSchemeLight, playwright.ColorSchemeDark}

// Every page is fit for everybody, however they look at it.
func TestPages(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	axe := axeScript(t)
	gallery := aPage{"gallery", func(v *visitor) { v.open("/gallery") }}
	for person, list := range map[string][]aPage{
		"approver":  pages(stage(t, p)),
		"developer": append(forms(), gallery),
		"":          outside(),
	} {
		v := visit(t, p.URL, playwright.BrowserNewContextOptions{})
		if person != "" {
			v.signIn(person)
		}
		for _, page := range list {
			t.Run(page.name, func(t *testing.T) {
				v.within(t)
				page.open(v)
				v.passesAxe(axe)
				v.fitsSmallWindows()
				v.keepsItsEdges()
			})
		}
	}
}

// axeScript is axe as npm has it.
func axeScript(t *testing.T) string {
	t.Helper()
	path, err := installed("node_modules", "axe-core", "axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// passesAxe fails the test if axe finds anything on the page, in either theme.
func (v *visitor) passesAxe(script string) {
	v.t.Helper()
	_, err := v.page.Evaluate(script)
	v.must(err)
	for _, theme := range themes {
		v.must(v.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: theme}))
		found, err := v.page.Evaluate(`async () => {
			// The gallery shows one form in several states, each with the same name.
			const rules = location.pathname === "/gallery" ? {"landmark-unique": {enabled: false}} : {};
			const result = await axe.run(document, {rules});
			return JSON.stringify({
				passed: result.passes.length,
				violations: result.violations.map((v) => ({
					help: v.help, impact: v.impact, nodes: v.nodes.slice(0, 5).map((n) => n.html + ": " + n.failureSummary),
				})),
			});
		}`)
		v.must(err)
		var result struct {
			Passed     int
			Violations []struct {
				Help, Impact string
				Nodes        []string
			}
		}
		text, _ := found.(string)
		v.must(json.Unmarshal([]byte(text), &result))
		if result.Passed == 0 {
			v.t.Error("axe has looked at nothing")
		}
		for _, violation := range result.Violations {
			v.t.Errorf("%s theme: %s (%s)\n%s", *theme, violation.Help, violation.Impact, strings.Join(violation.Nodes, "\n"))
		}
	}
}

// fitsSmallWindows fails the test if the page is wider than a window of 320 pixels,
// or than a small one with text of twice the size.
func (v *visitor) fitsSmallWindows() {
	v.t.Helper()
	size := v.page.ViewportSize()
	zoom := func(percent string) {
		_, err := v.page.Evaluate("percent => { document.documentElement.style.fontSize = percent }", percent)
		v.must(err)
	}
	for _, window := range []struct {
		width int
		text  string
	}{{320, "100%"}, {640, "200%"}} {
		v.must(v.page.SetViewportSize(window.width, size.Height))
		zoom(window.text)
		v.fits(window.width)
	}
	zoom("")
	v.must(v.page.SetViewportSize(size.Width, size.Height))
}

// fits fails the test if a page is wider than its window.
func (v *visitor) fits(width int) {
	v.t.Helper()
	found, err := v.page.Evaluate(`() => {
		const width = document.documentElement.clientWidth;
		const over = [...document.body.querySelectorAll("*")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > width + 1);
		return [document.documentElement.scrollWidth, over.slice(0, 3).map((e) => e.outerHTML.slice(0, 200)).join("\n")];
	}`)
	v.must(err)
	answer, _ := found.([]any)
	if wide, ok := answer[0].(int); !ok || wide > width {
		v.t.Errorf("%s is %v wide in a window of %d; beyond it stands:\n%v", v.page.URL(), answer[0], width, answer[1])
	}
}

// keepsItsEdges fails the test if, in the colours that a reader forces on all
// pages, nothing shows where a status, a button or a field ends, or where the focus
// is: backgrounds and shadows are gone there.
func (v *visitor) keepsItsEdges() {
	v.t.Helper()
	v.must(v.page.EmulateMedia(playwright.PageEmulateMediaOptions{ForcedColors: playwright.ForcedColorsActive}))
	// A status has no role of its own; its classes are what the stylesheet knows.
	found, err := v.page.Evaluate(`() => {
		const canvas = getComputedStyle(document.documentElement).getPropertyValue("background-color");
		const seen = (color) => color !== canvas && !/^rgba\(.*, 0\)$/.test(color);
		const bare = [];
		for (const e of document.querySelectorAll(".tag, .op, .button, button, input:not([type=hidden]), select, textarea")) {
			if (!e.checkVisibility() || e.ariaHidden === "true") continue;
			const style = getComputedStyle(e);
			const edge = style.borderTopStyle !== "none" && parseFloat(style.borderTopWidth) >= 1 && seen(style.borderTopColor);
			const drawn = e.matches("[type=checkbox], [type=radio]"); // by the browser itself
			if (!edge && !drawn) bare.push(e.outerHTML.slice(0, 200));
		}
		return bare;
	}`)
	v.must(err)
	bare, _ := found.([]any)
	for _, element := range bare {
		v.t.Errorf("in forced colours it has no edge: %v", element)
	}
	for range 3 {
		v.key("Tab")
		v.seesFocus(v.page.Locator(":focus"))
	}
	v.must(v.page.EmulateMedia(playwright.PageEmulateMediaOptions{ForcedColors: playwright.ForcedColorsNone}))
}
