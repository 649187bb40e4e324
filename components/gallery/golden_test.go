package gallery

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/components/shell"
)

var update = flag.Bool("update", false, "write the HTML that components make to testdata")

// base is the frame that golden files are made in.
var base = shell.View{Assets: shell.AssetsView{Stylesheet: "/static/app.css", Script: "/static/live.js", Icon: "/static/icon.svg"}}

func TestComponentsMakeTheHTMLThatWasLookedAt(t *testing.T) {
	t.Parallel()
	for _, p := range Parts() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			golden(t, p.Part, filepath.Join("testdata", "parts", p.Name+".html"))
		})
	}
	for _, p := range Pages(base) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			golden(t, p.Page, filepath.Join("testdata", "pages", p.Name+".html"))
		})
	}
}

func golden(t *testing.T, c templ.Component, file string) {
	t.Helper()
	got := lines(render(t, c))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update ./components/gallery writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("HTML differs from %s (-want +got):\n%s", file, diff)
	}
}

// lines puts each element on a line of its own, so that a difference is found at
// once.
func lines(html string) string {
	return strings.ReplaceAll(html, "><", ">\n<") + "\n"
}

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
