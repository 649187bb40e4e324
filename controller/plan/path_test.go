package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want path
		back string // "" means the text itself
	}{
		"keys":                       {text: "spec.replicas", want: path{"spec", "replicas"}},
		"an index":                   {text: "a[0].b[12]", want: path{"a", 0, "b", 12}},
		"a quoted key":               {text: `metadata.labels["app.kubernetes.io/name"]`, want: path{"metadata", "labels", "app.kubernetes.io/name"}},
		"a quote in a key":           {text: `a["x\"y"]`, want: path{"a", `x"y`}},
		"a dot before a bracket":     {text: `a.["b.c"]`, want: path{"a", "b.c"}, back: `a["b.c"]`},
		"an open bracket is one key": {text: "a[0", want: path{"a[0"}, back: `["a[0"]`},
		"an open quote is one key":   {text: `a["b`, want: path{`a["b`}, back: `["a[\"b"]`},
		"no index is one key":        {text: "a[*]", want: path{"a[*]"}, back: `["a[*]"]`},
		"nothing":                    {text: "", want: nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsePath(tc.text)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("path (-want +got):\n%s", d)
			}
			want := tc.text
			if tc.back != "" {
				want = tc.back
			}
			if got.String() != want {
				t.Errorf("String() = %q, want %q", got.String(), want)
			}
		})
	}
}

func TestPathInternal(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"__fieldManager":            true,
		"__inputs.data.a":           true,
		"spec.__defaults[0]":        true,
		"data.__mine":               false,
		"spec.template":             false,
		`metadata.labels["__name"]`: false,
	}
	for text, want := range tests {
		if got := parsePath(text).internal(); got != want {
			t.Errorf("internal(%q) = %t, want %t", text, got, want)
		}
	}
}
