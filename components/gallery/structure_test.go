package gallery

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
)

// everything is each page, and the gallery that has every part.
func everything() []Page {
	titled := base
	titled.Title = "Gallery"
	return append(Pages(base), Page{Name: "gallery", Page: Gallery(titled)})
}

func document(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(render(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestPagesCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	checks := map[string]func(t *testing.T, doc *goquery.Document){
		"one title, one main landmark, one first heading": oneOfEach,
		"headings go down by one level":                   headingsInOrder,
		"an id names one element":                         uniqueIDs,
		"what an attribute refers to exists":              referencesExist,
		"landmarks of one kind have different names":      landmarksDiffer,
		"every control has a label":                       controlsHaveLabels,
		"every button and link says what it does":         actionsHaveNames,
		"nothing is styled or scripted inline":            nothingInline,
		"forms change things by POST, search by GET":      formMethods,
	}
	for _, p := range everything() {
		for name, check := range checks {
			t.Run(p.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				check(t, document(t, p.Page))
			})
		}
	}
}

func oneOfEach(t *testing.T, doc *goquery.Document) {
	for _, selector := range []string{"html[lang]", "title", "main", "h1", "main h1", "[data-announce]", "a.skip[href='#main']"} {
		if n := doc.Find(selector).Length(); n != 1 {
			t.Errorf("%d of %s, want 1", n, selector)
		}
	}
	if strings.TrimSpace(doc.Find("title").Text()) == "Towpath" {
		t.Error("the title does not name the page")
	}
}

func headingsInOrder(t *testing.T, doc *goquery.Document) {
	level := 0
	doc.Find("h1, h2, h3, h4, h5, h6").Each(func(_ int, h *goquery.Selection) {
		next := int(goquery.NodeName(h)[1] - '0')
		if next > level+1 {
			t.Errorf("%q is an h%d after an h%d", h.Text(), next, level)
		}
		level = next
	})
}

func uniqueIDs(t *testing.T, doc *goquery.Document) {
	seen := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, e *goquery.Selection) {
		id := e.AttrOr("id", "")
		if id == "" || seen[id] {
			t.Errorf("id %q is empty or used twice", id)
		}
		seen[id] = true
	})
}

func referencesExist(t *testing.T, doc *goquery.Document) {
	ids := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, e *goquery.Selection) { ids[e.AttrOr("id", "")] = true })
	for _, attribute := range []string{"for", "aria-labelledby", "aria-describedby", "data-filter", "data-preview"} {
		doc.Find("[" + attribute + "]").Each(func(_ int, e *goquery.Selection) {
			for id := range strings.FieldsSeq(e.AttrOr(attribute, "")) {
				if !ids[id] {
					t.Errorf("%s=%q of a %s leads nowhere", attribute, id, goquery.NodeName(e))
				}
			}
		})
	}
}

func landmarksDiffer(t *testing.T, doc *goquery.Document) {
	seen := map[string]bool{}
	doc.Find("nav, section, form, aside, [role=region], [role=search]").Each(func(_ int, e *goquery.Selection) {
		name := e.AttrOr("aria-label", "")
		if id := e.AttrOr("aria-labelledby", ""); id != "" {
			name = strings.TrimSpace(doc.Find("[id='" + id + "']").Text())
		}
		if name == "" {
			return // no landmark
		}
		landmark := e.AttrOr("role", goquery.NodeName(e)) + " " + name
		if seen[landmark] {
			t.Errorf("two landmarks are called %q", landmark)
		}
		seen[landmark] = true
	})
}

func controlsHaveLabels(t *testing.T, doc *goquery.Document) {
	labelled := map[string]bool{}
	doc.Find("label[for]").Each(func(_ int, l *goquery.Selection) {
		labelled[l.AttrOr("for", "")] = strings.TrimSpace(l.Text()) != ""
	})
	doc.Find("input:not([type=hidden]), select, textarea").Each(func(_ int, c *goquery.Selection) {
		if !labelled[c.AttrOr("id", "")] {
			t.Errorf("%s %q has no label", goquery.NodeName(c), c.AttrOr("name", ""))
		}
	})
	doc.Find("fieldset").Each(func(_ int, f *goquery.Selection) {
		if strings.TrimSpace(f.ChildrenFiltered("legend").Text()) == "" {
			t.Error("a fieldset has no legend")
		}
	})
}

func actionsHaveNames(t *testing.T, doc *goquery.Document) {
	doc.Find("a, button, summary").Each(func(_ int, e *goquery.Selection) {
		if strings.TrimSpace(e.Text()) == "" {
			t.Errorf("a %s has no text", goquery.NodeName(e))
		}
	})
	doc.Find("nav").Each(func(_ int, e *goquery.Selection) {
		if e.AttrOr("aria-label", "") == "" {
			t.Error("a navigation has no name")
		}
	})
}

func nothingInline(t *testing.T, doc *goquery.Document) {
	if n := doc.Find("style, [style]").Length(); n != 0 {
		t.Errorf("%d inline styles", n)
	}
	doc.Find("script").Each(func(_ int, s *goquery.Selection) {
		if _, deferred := s.Attr("defer"); !deferred || s.AttrOr("src", "") == "" || s.Text() != "" {
			t.Error("a script is inline or blocks the page")
		}
	})
	doc.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, a := range e.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("a %s has %s", goquery.NodeName(e), a.Key)
			}
		}
	})
}

func formMethods(t *testing.T, doc *goquery.Document) {
	doc.Find("form").Each(func(_ int, f *goquery.Selection) {
		search := f.AttrOr("role", "") == "search"
		method := f.AttrOr("method", "")
		if search && method != "get" {
			t.Errorf("a search is sent by %q", method)
		}
		if !search && method != "post" {
			t.Errorf("a form is sent by %q", method)
		}
	})
}
