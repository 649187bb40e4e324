package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// themes are how readers may have set their system.
var themes = []*playwright.ColorScheme{playwright.ColorSchemeLight, playwright.ColorSchemeDark}

// Axe finds nothing serious on any page, whatever the theme.
func TestPagesAreAccessible(t *testing.T) {
	p := sharedPortal(t)
	change := stage(t, p)
	script, err := installed("node_modules", "axe-core", "axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range themes {
		for person, list := range map[string][]aPage{
			"approver":  pages(change),
			"developer": append(forms(), aPage{"gallery", func(v *visitor) { v.open("/gallery") }}),
			"":          outside(),
		} {
			v := visit(t, p.URL, playwright.BrowserNewContextOptions{
				ColorScheme: theme, ReducedMotion: playwright.ReducedMotionReduce,
				BypassCSP: playwright.Bool(true), // for axe alone: it is put into the page
			})
			if person != "" {
				v.signIn(person)
			}
			for _, page := range list {
				t.Run(string(*theme)+"/"+page.name, func(t *testing.T) {
					page.open(v)
					for _, problem := range v.axe(script) {
						t.Error(problem)
					}
				})
			}
		}
	}
}

// axe returns what axe finds serious on the page.
func (v *visitor) axe(script string) []string {
	v.t.Helper()
	_, err := v.page.AddScriptTag(playwright.PageAddScriptTagOptions{Path: playwright.String(script)})
	v.must(err)
	found, err := v.page.Evaluate(`async () => {
		const result = await axe.run(document);
		const serious = result.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
		return JSON.stringify({
			passed: result.passes.length,
			violations: serious.map((v) => ({help: v.help, nodes: v.nodes.slice(0, 5).map((n) => n.html + ": " + n.failureSummary)})),
		});
	}`)
	v.must(err)
	var result struct {
		Passed     int
		Violations []struct {
			Help  string
			Nodes []string
		}
	}
	text, _ := found.(string)
	v.must(json.Unmarshal([]byte(text), &result))
	if result.Passed == 0 {
		v.t.Error("axe has looked at nothing")
	}
	var problems []string
	for _, violation := range result.Violations {
		problems = append(problems, violation.Help+"\n"+strings.Join(violation.Nodes, "\n"))
	}
	return problems
}
