package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// A portal that goes through bad times: an API server that is away, then texts
// that mean harm.
func TestBadTimes(t *testing.T) {
	p := ownPortal(t)
	t.Run("the API server goes away", func(t *testing.T) { apiServerGoesAway(t, p) })
	t.Run("nothing that people write is executed", func(t *testing.T) { hostileTexts(t, p) })
}

// hostile would do harm in a page, a terminal or a reader's head.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)> <a href="javascript:alert(3)">here</a> ` +
	"\x1b[31mred\x1b]8;;javascript:alert(4)\x07 \u202eevil\u2066 {{7*7}} ${secret}"

// inProgram is for what the YAML of Pulumi would read as an expression.
var inProgram = strings.ReplaceAll(hostile, "${", "$${")

func hostileTexts(t *testing.T, p *portal.Portal) {
	publishHostile(t, p)
	apply(t, p, "developer", map[string]any{
		"apiVersion": "towpath.dev/v1alpha1", "kind": "ChangeRequest",
		"metadata": map[string]any{"name": "hostile", "namespace": "shop"},
		"spec": map[string]any{
			"service": "hostile", "description": "Hostile " + hostile + "\n" + hostile,
			"program": map[string]any{
				"packages":      map[string]any{"web-service": "web-service@1.0.0"},
				"configuration": map[string]any{"note": map[string]any{"type": "String", "default": inProgram}},
				"resources": map[string]any{"hostile": map[string]any{
					"type": "web-service:index:WebService",
					"properties": map[string]any{
						"image": "ghcr.io/acme/orders:1.0.0", "env": map[string]any{"NOTE": "${note}", "TEXT": inProgram},
					},
				}},
				"outputs": map[string]any{"link": "javascript:alert(5)", "text": inProgram, "note": "${note}"},
			},
			"environments": []any{
				map[string]any{"name": "dev", "config": map[string]any{"note": "dev " + hostile}},
				map[string]any{"name": "test"},
			},
		},
	})

	approver := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	approver.signIn("approver")
	approver.open("/changes/shop/hostile")
	approver.awaits(exactly(approver.column("dev"), "Applied"))
	approver.fill(approver.column("test").GetByRole("textbox").First(), hostile)
	approver.press(approver.column("test").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Comment only"}))
	approver.awaits(says(approver.column("test"), "approver commented"))

	developer := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	developer.signIn("developer")
	for _, path := range []string{
		"/changes/shop/hostile", "/", "/changes", "/changes?q=" + "%22%3E%3Cscript%3Ealert(6)%3C/script%3E", "/services", "/services/shop/hostile",
		"/compose?namespace=shop&service=hostile", "/compose?namespace=shop&change=hostile",
		"/catalogue", "/golden-paths/web-service", "/golden-paths/web-service?version=1.0.1", "/compose?path=web-service", "/environments",
	} {
		t.Run(path, func(t *testing.T) {
			developer.open(path)
			for _, harm := range developer.harm() {
				t.Error(harm)
			}
		})
	}
	developer.open("/changes/shop/hostile")
	developer.awaits(developer.page.GetByText("<script>alert(1)</script>").First())
	developer.open("/golden-paths/web-service?version=1.0.1")
	developer.awaits(developer.page.GetByText("The end of the README."))
	if developer.open("/compose?path=web-service"); t.Failed() {
		developer.tell()
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

// publishHostile publishes a version of a golden path whose every text is hostile.
func publishHostile(t *testing.T, p *portal.Portal) {
	t.Helper()
	said, err := kubectl(t, p, "platform", "get", "goldenpathversion", "web-service-1.0.0", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var version struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(said, &version); err != nil {
		t.Fatal(err)
	}
	version.Metadata = map[string]any{"name": "web-service-1.0.1", "labels": version.Metadata["labels"]}
	version.Spec["version"] = "1.0.1"
	version.Spec["changelog"] = hostile
	version.Spec["readme"] = "# " + hostile + "\n\n" + hostile + "\n\n[click](javascript:alert(7)) ![x](https://elsewhere.example/x.png) <javascript:alert(8)>\n\n" +
		"<iframe src=https://elsewhere.example></iframe>\n\n```html\n" + hostile + "\n```\n\nThe end of the README.\n"
	for _, list := range []string{"inputs", "outputs", "examples"} {
		items, _ := version.Spec[list].([]any)
		for _, item := range items {
			fields, _ := item.(map[string]any)
			for _, field := range []string{"help", "patternHelp"} {
				if _, ok := fields[field].(string); ok {
					fields[field] = hostile
				}
			}
			for _, field := range []string{"label", "group", "title"} {
				if _, ok := fields[field].(string); ok {
					fields[field] = `<img src=x onerror="alert(9)">` + "\x1b[31m\u202e"
				}
			}
		}
	}
	apply(t, p, "platform", version)
}

// apply creates an object by kubectl, which is a door for texts that no form takes.
func apply(t *testing.T, p *portal.Portal, person string, object any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	create := kubectl(t, p, person, "create", "-f", "-")
	create.Stdin = strings.NewReader(string(text))
	if said, err := create.CombinedOutput(); err != nil {
		t.Fatalf("kubectl create: %v\n%s", err, said)
	}
}

func kubectl(t *testing.T, p *portal.Portal, person string, args ...string) *exec.Cmd {
	t.Helper()
	root, err := portal.Root()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(root, ".toolchain", "bin", "kubectl"), append([]string{"--kubeconfig", p.Kubeconfig(person)}, args...)...)
	command.Env = []string{"HOME=" + t.TempDir()}
	return command
}
