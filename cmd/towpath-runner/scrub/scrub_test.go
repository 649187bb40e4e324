package scrub_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
)

const secret = `p"ss wörd&<1>`

func TestText(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		secrets []string
		text    string
		want    string
	}{
		"a secret as it is": {
			[]string{secret}, "value " + secret + " is bad", "value [secret] is bad",
		},
		"a secret escaped for JSON as the engine writes it": {
			[]string{"a\"b<c"}, `{"k":"a\"b<c"}`, `{"k":"[secret]"}`,
		},
		"a secret escaped for JSON twice": {
			[]string{`a"b`}, `"{\"k\":\"a\\\"b\"}"`, `"{\"k\":\"[secret]\"}"`,
		},
		"a secret in padded base64": {
			[]string{secret}, "data: " + base64.StdEncoding.EncodeToString([]byte(secret)) + ";", "data: [secret];",
		},
		"a secret in raw base64": {
			[]string{secret}, "data: " + base64.RawStdEncoding.EncodeToString([]byte(secret)) + ";", "data: [secret];",
		},
		"a secret in URL base64": {
			[]string{"???>>>"}, "data: " + base64.URLEncoding.EncodeToString([]byte("???>>>")) + ";", "data: [secret];",
		},
		"a secret in hex": {
			[]string{secret}, hex.EncodeToString([]byte(secret)), "[secret]",
		},
		"a secret in upper case hex": {
			[]string{secret}, strings.ToUpper(hex.EncodeToString([]byte(secret))), "[secret]",
		},
		"a secret in a query": {
			[]string{secret}, "https://x/?q=" + url.QueryEscape(secret), "https://x/?q=[secret]",
		},
		"a secret in a path": {
			[]string{secret}, "https://x/" + url.PathEscape(secret) + "/y", "https://x/[secret]/y",
		},
		"each line of a secret with many": {
			[]string{"first line\nsecond line\n"}, "1: second line; 2: first line", "1: [secret]; 2: [secret]",
		},
		"the longer of two that begin alike": {
			[]string{"hunter", "hunter22"}, "hunter22 and hunter2", "[secret] and [secret]2",
		},
		"two that overlap": {
			[]string{"abcdef", "defxyz"}, "-abcdefxyz-", "-[secret]-",
		},
		"a short value is left": {
			[]string{"ab", "true", "false", ""}, "ab is true", "ab is true",
		},
		"text without a secret is left": {
			[]string{secret}, string(quoted[:3]) + " nothing here", string(quoted[:3]) + " nothing here",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, scrub.New(test.secrets...).Text(test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextFindsSecretInsideLongerBase64(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery"
	s := scrub.New(password)
	for before := range 4 {
		for after := range 4 {
			whole := strings.Repeat("u", before) + password + strings.Repeat("x", after)
			got := s.Text(base64.StdEncoding.EncodeToString([]byte(whole)))
			if len(got) > len(scrub.Mask)+2+2*4 || !strings.Contains(got, scrub.Mask) {
				t.Errorf("%d bytes before and %d after: %q gives too much away", before, after, got)
			}
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"colours":             {"\x1b[1;31mred\x1b[0m", "red"},
		"terminal links":      {"\x1b]8;;http://x\x07click\x1b]8;;\x07", "click"},
		"colour directives":   {"<{%fg 1%}>red<{%reset%}>", "red"},
		"control characters":  {"a\rb\x00c\x7fd\u009be", "abcde"},
		"lines and tabs stay": {"a\n\tb", "a\n\tb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, scrub.Plain(test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	s := scrub.New()
	for i := range 500 {
		s.Add(fmt.Sprintf("secret-value-%d-with-some-length", i))
	}
	text := strings.Repeat("the quick brown fox jumps over the lazy dog; ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Text(text)
	}
}
