package program

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
)

func TestParse(t *testing.T) {
	ref := func(root, property string) []reference {
		return []reference{{path: "at", root: root, property: property}}
	}
	whole := func(root, property string) []reference {
		return []reference{{path: "at", root: root, property: property, whole: true}}
	}
	for text, want := range map[string][]reference{
		"":                        nil,
		"plain":                   nil,
		"$":                       nil,
		"$5":                      nil,
		"{db}":                    nil,
		"${db}":                   whole("db", ""),
		"${db.host}":              whole("db", "host"),
		"${ db . host }":          whole("db", "host"),
		"${db.host.name}":         whole("db", "host"),
		"${db.hosts[0]}":          whole("db", "hosts"),
		"${db[0]}":                whole("db", ""),
		`${db["host"].name}`:      whole("db", "host"),
		"to ${db.host}":           ref("db", "host"),
		"${db.host}:80":           ref("db", "host"),
		"$${db.host}":             nil,
		"$$${db.host}":            ref("db", "host"),
		"$$$${db.host}":           nil,
		"$${a} ${db.host}":        ref("db", "host"),
		"${db.host":               ref("", ""),
		"${":                      ref("", ""),
		"${}":                     whole("", ""),
		"${.host}":                whole("", "host"),
		"${db.host}${db.host}":    append(ref("db", "host"), ref("db", "host")...),
		"${a} and ${b.c} and ${d": append(append(ref("a", ""), ref("b", "c")...), ref("", "")...),
	} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(want, parse("at", text), cmp.AllowUnexported(reference{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACircleIsNamedInItsOrder(t *testing.T) {
	for name, test := range map[string]struct {
		variables map[string]string
		want      []string
	}{
		"no circle":               {map[string]string{"a": "${b}", "b": "${c}", "c": "x"}, nil},
		"two ways to one":         {map[string]string{"a": "${b} ${c}", "b": "${d}", "c": "${d}", "d": "x"}, nil},
		"a circle behind a tail":  {map[string]string{"a": "${b}", "b": "${c}", "c": "${d}", "d": "${b}"}, []string{"b", "c", "d", "b"}},
		"what is not there":       {map[string]string{"a": "${z}"}, nil},
		"an escaped circle":       {map[string]string{"a": "$${a}"}, nil},
		"a circle in a long text": {map[string]string{"a": "see ${b}", "b": "and ${a}"}, []string{"a", "b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := pulumiv1.ProgramSpec{Variables: literalTexts(test.variables)}
			if diff := cmp.Diff(test.want, cycle(graph(spec))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is written, parsing ends, and what it finds stands in the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "${", "$${a}", "${a.b}", `${a["b"]}`, "${a[0].b}", "$$$${x", "${ä.ö}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		refs := parse("at", text)
		if opened := strings.Count(text, "${"); len(refs) > opened {
			t.Errorf("%q: found %d expressions, there are at most %d", text, len(refs), opened)
		}
		for _, ref := range refs {
			if !strings.Contains(text, ref.root) || !strings.Contains(text, ref.property) {
				t.Errorf("%q: found %+v, which does not stand in it", text, ref)
			}
		}
		escaped := strings.ReplaceAll(text, "$", "$$")
		if refs := parse("at", escaped); refs != nil {
			t.Errorf("%q: found %+v, but all is escaped", escaped, refs)
		}
	})
}
