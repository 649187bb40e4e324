package static_test

import (
	"bytes"
	"compress/gzip"
	"regexp"
	"strings"
	"testing"

	"github.com/towpath-dev/towpath/web/static"
)

var comment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// withoutTokens is the stylesheet without comments and without the layer that
// names colours.
func withoutTokens(t *testing.T) string {
	t.Helper()
	css := comment.ReplaceAllString(string(static.Stylesheet.Content), "")
	start := strings.Index(css, "@layer tokens {")
	end := strings.Index(css, "@layer base {")
	if start < 0 || end < start {
		t.Fatal("the stylesheet has no tokens layer before its base layer")
	}
	return css[:start] + css[end:]
}

func TestStylesheetKeepsTheRules(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a colour is named in the tokens layer only": `#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|hwb|lab|lch|oklch|oklab|color)a?\(|:\s*(?:white|black|red|green|blue|gray|grey)\b`,
		"a length is not in px":                      `[0-9.]px\b`,
		"nothing is important":                       `!important`,
		"a selector has no id":                       `(?m)^[^{}:;@]*#[a-zA-Z][^{};]*\{`,
		"sides are logical":                          `[\s;{](?:margin|padding|border|inset)-(?:left|right|top|bottom)|[\s;{](?:left|right|top|bottom|width|height|max-width|min-width|max-height|min-height)\s*:`,
		"nothing comes from elsewhere":               `@import|url\(`,
	}
	css := withoutTokens(t)
	for name, forbidden := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := regexp.MustCompile(forbidden).FindAllString(css, -1); len(found) > 0 {
				t.Errorf("the stylesheet has %q", found)
			}
		})
	}
}

func TestStylesheetUsesTokensThatExist(t *testing.T) {
	t.Parallel()
	css := comment.ReplaceAllString(string(static.Stylesheet.Content), "")
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(--[a-z0-9-]+)\s*:`).FindAllStringSubmatch(css, -1) {
		defined[m[1]] = true
	}
	used := regexp.MustCompile(`var\((--[a-z0-9-]+)`).FindAllStringSubmatch(css, -1)
	if len(used) == 0 {
		t.Fatal("the stylesheet uses no tokens")
	}
	for _, m := range used {
		if !defined[m[1]] {
			t.Errorf("%s is used but not defined", m[1])
		}
	}
}

func TestFilesAreSmall(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file  static.File
		limit int
	}{
		"the stylesheet": {static.Stylesheet, 20 << 10},
		"the script":     {static.Script, 4 << 10},
		"the icon":       {static.Icon, 1 << 10},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			if _, err := w.Write(tc.file.Content); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if b.Len() > tc.limit {
				t.Errorf("%d bytes compressed, want at most %d", b.Len(), tc.limit)
			}
		})
	}
}

func TestURLsNameTheContent(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^/static/(app|live|icon)\.[0-9a-f]{12}\.(css|js|svg)$`)
	for _, f := range static.All() {
		if !pattern.MatchString(f.URL) {
			t.Errorf("URL %q does not match %s", f.URL, pattern)
		}
	}
}
