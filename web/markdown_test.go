package web

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadme(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"links to pages and mailboxes stay": {
			"[docs](https://docs.example/a) [top](#top) <https://docs.example> <ana@example.com>",
			`<p><a href="https://docs.example/a">docs</a> <a href="#top">top</a> <a href="https://docs.example">https://docs.example</a> <a href="mailto:ana@example.com">ana@example.com</a></p>`,
		},
		"of a link that is code the words stay": {
			"[**click** me](javascript:alert(1)) and [this](DATA:text/html,x)", "<p><strong>click</strong> me and this</p>",
		},
		"of code in angle brackets the words stay": {
			"<javascript:alert(1)> <vbscript:x>", "<p>javascript:alert(1) vbscript:x</p>",
		},
		"of an image its description stays":      {"before ![a *picture*](https://elsewhere.example/x.png) after", "<p>before a <em>picture</em> after</p>"},
		"an image in a link leaves the link":     {"[![badge](https://elsewhere.example/b.svg)](https://docs.example)", `<p><a href="https://docs.example">badge</a></p>`},
		"raw HTML is left out":                   {"a <b onclick=x>b</b> <script>alert(1)</script>", "<p>a <!-- raw HTML omitted -->b<!-- raw HTML omitted --> <!-- raw HTML omitted -->alert(1)<!-- raw HTML omitted --></p>"},
		"code that looks like HTML is only text": {"`<script>`", "<p><code>&lt;script&gt;</code></p>"},
	} {
		t.Run(name, func(t *testing.T) {
			component, err := readme(test.text)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if err := component.Render(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, strings.TrimSpace(got.String())); diff != "" {
				t.Error(diff)
			}
		})
	}
}
