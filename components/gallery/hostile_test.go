package gallery

import (
	"reflect"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
)

// hostile is what somebody may put into any name, value or log line: HTML, an
// escape sequence, and characters that reorder text.
const hostile = `</title></textarea></script><script>alert(1)</script><img src=x onerror=alert(1)>" onclick="alert(1)` + "\x1b[31m\u202e\u2066"

const hostileURL = "javascript:alert(1)//"

func TestHostileTextsStayTexts(t *testing.T) {
	t.Parallel()
	f := frame(base)
	tests := map[string]templ.Component{
		"home":          page.Home(poisoned(home(f))),
		"changes":       page.Changes(poisoned(changes(f))),
		"change":        page.Change(poisoned(change(f))),
		"refused":       page.Change(poisoned(changeRefused(f))),
		"compose":       page.Compose(poisoned(compose(f))),
		"new":           page.Compose(poisoned(composeNew(f))),
		"services":      page.Services(poisoned(page.ServicesView{Services: serviceRows()})),
		"service":       page.Service(poisoned(service(f))),
		"run":           page.Run(poisoned(run(f))),
		"catalogue":     page.Catalogue(poisoned(catalogue(f))),
		"golden path":   page.GoldenPath(poisoned(goldenPath(f))),
		"environments":  page.Environments(poisoned(environments(f))),
		"signed out":    page.SignedOut(poisoned(page.SignedOutView{Message: "x", SignInURL: "x", ProviderURL: "x"})),
		"dev sign-in":   page.DevSignIn(poisoned(devSignIn(f))),
		"session ended": page.SessionEnded(poisoned(page.SessionEndedView{Kept: true, SignInURL: "x", Action: "x", Fields: []components.HiddenView{{Name: "x", Value: "x"}}})),
		"problem":       page.Problem(poisoned(sessionEnded(f))),
		"log lines":     components.LogLines(poisoned(runningLog("log"))),
	}
	for name, component := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := document(t, component)
			harmless(t, doc)
			text := doc.Text()
			doc.Find("[value], [title]").Each(func(_ int, e *goquery.Selection) {
				text += e.AttrOr("value", "") + e.AttrOr("title", "")
			})
			if !strings.Contains(text, "<script>alert(1)</script>") {
				t.Error("the hostile text is not shown as text")
			}
		})
	}
}

func harmless(t *testing.T, doc *goquery.Document) {
	t.Helper()
	if n := doc.Find("body script, img, iframe, object, embed, style, [style], base, body meta").Length(); n != 0 {
		t.Errorf("%d elements that no component makes", n)
	}
	doc.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, a := range e.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("a %s got %s=%q", goquery.NodeName(e), a.Key, a.Val)
			}
		}
	})
	for _, attribute := range []string{"href", "src", "action", "formaction"} {
		doc.Find("[" + attribute + "]").Each(func(_ int, e *goquery.Selection) {
			if url := strings.ToLower(strings.TrimSpace(e.AttrOr(attribute, ""))); strings.HasPrefix(url, "javascript:") {
				t.Errorf("the %s of a %s is %q", attribute, goquery.NodeName(e), url)
			}
		})
	}
}

// poisoned is a view with a hostile text in every string that is not empty.
func poisoned[V any](view V) V {
	poison(reflect.ValueOf(&view).Elem(), "")
	return view
}

func poison(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), name)
		}
	case reflect.String:
		// A named type has values that components know; an id is never made of texts.
		if v.Type() != reflect.TypeFor[string]() || v.String() == "" || name == "ID" {
			return
		}
		if strings.HasSuffix(name, "URL") || name == "Action" {
			v.SetString(hostileURL + hostile)
			return
		}
		v.SetString(hostile + v.String())
	default:
	}
}
