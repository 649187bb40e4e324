package auth

import (
	"net/url"
	"strings"
	"testing"
)

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ next, want string }{
		"nothing":                   {"", "/"},
		"home":                      {"/", "/"},
		"a path":                    {"/changes/shop/orders", "/changes/shop/orders"},
		"a path with a slash":       {"/changes/", "/changes/"},
		"a path with a query":       {"/changes?state=open&q=a%20b", "/changes?state=open&q=a%20b"},
		"a URL in the query":        {"/compose?from=//evil.example", "/compose?from=//evil.example"},
		"a fragment":                {"/changes#prod", "/changes"},
		"the end of a sign-in":      {"/signed-in", "/signed-in"},
		"other letters":             {"/services/caf%C3%A9", "/services/caf%C3%A9"},
		"another host":              {"//evil.example", "/"},
		"another host, three":       {"///evil.example", "/"},
		"a host without a name":     {"//", "/"},
		"the same with a query":     {"//?a=b", "/"},
		"a backslash":               {`/\evil.example`, "/"},
		"two backslashes":           {`\\evil.example`, "/"},
		"a backslash, encoded":      {"/%5Cevil.example", "/"},
		"a slash, encoded":          {"/%2Fevil.example", "/"},
		"a tab":                     {"/\t/evil.example", "/"},
		"a tab, encoded":            {"/%09/evil.example", "/"},
		"a tab first, encoded":      {"%09/", "/"},
		"a tab in the query":        {"/changes?a=\tb", "/"},
		"a line break":              {"/changes\r\nSet-Cookie: a=b", "/"},
		"a line break, encoded":     {"/changes%0d%0aSet-Cookie:a=b", "/"},
		"a zero":                    {"/changes%00", "/"},
		"a line separator":          {"/changes\u2028x", "/"},
		"bytes that are no text":    {"/changes\xff", "/"},
		"the same, encoded":         {"/changes%ff", "/"},
		"an absolute URL":           {"https://evil.example/", "/"},
		"an absolute URL, odd":      {"https:/evil.example", "/"},
		"a script":                  {"javascript:alert(1)", "/"},
		"no slash":                  {"changes", "/"},
		"a space first":             {" /changes", "/"},
		"a space last":              {"/changes? ", "/"},
		"a user":                    {"@evil.example", "/"},
		"dots":                      {"/changes/../..//evil.example", "/"},
		"a dot, then another host":  {"/.//evil.example", "/"},
		"dots, encoded":             {"/%2e%2e//evil.example", "/"},
		"a bad escape":              {"/%zz", "/"},
		"the sign-in itself":        {"/sign-in?next=/", "/"},
		"the end of it":             {"/sign-in/callback?code=a", "/"},
		"the sign-in, encoded":      {"/sign%2Din", "/"},
		"a path longer than useful": {"/" + strings.Repeat("a", maxNext), "/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := localPath(test.next); got != test.want {
				t.Errorf("localPath(%q) = %q, want %q", test.next, got, test.want)
			}
		})
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/", "//evil", `/\evil`, "/%09/", "/a?b=c#d", "http:///", "/a//b", "/%2e%2e/", "/\u2028", "/a;b", "/:80", "/?//"} {
		f.Add(seed)
	}
	base := &url.URL{Scheme: "https", Host: "portal.example", Path: "/sign-in/callback"}
	f.Fuzz(func(t *testing.T, next string) {
		got := localPath(next)
		if again := localPath(got); again != got {
			t.Errorf("localPath(%q) = %q, of which it makes %q", next, got, again)
		}
		// Browsers drop tabs and line breaks and take backslashes for slashes.
		read := strings.NewReplacer("\t", "", "\r", "", "\n", "", `\`, "/").Replace(strings.TrimSpace(got))
		if read != got {
			t.Errorf("localPath(%q) = %q, which a browser reads as %q", next, got, read)
		}
		u, err := base.Parse(got)
		if err != nil {
			t.Fatalf("localPath(%q) = %q: %v", next, got, err)
		}
		if u.Scheme != base.Scheme || u.Host != base.Host || strings.HasPrefix(got, "//") || !strings.HasPrefix(got, "/") {
			t.Errorf("localPath(%q) = %q leads to %s", next, got, u)
		}
	})
}
