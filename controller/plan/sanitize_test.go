package plan

import "testing"

func TestSanitize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"plain text stays":           {in: `shop/web "é" 世界 ±→ \n`, want: `shop/web "é" 世界 ±→ \n`},
		"line breaks and tabs":       {in: "a\nb\r\tc", want: `a\nb\r\tc`},
		"an escape sequence":         {in: "\x1b[31mred\x7f", want: `\x1b[31mred\x7f`},
		"a C1 control":               {in: "\u009b31m", want: `\u009b31m`},
		"text that runs backwards":   {in: "\u202eevil\u2066", want: `\u202eevil\u2066`},
		"characters with no width":   {in: "a\u200b\u2060\ufeff\u00ad", want: `a\u200b\u2060\ufeff\u00ad`},
		"letters that are invisible": {in: "\u3164\u115f\u2800", want: `\u3164\u115f\u2800`},
		"variation selectors":        {in: "a\ufe0f\U000e0101", want: `a\ufe0f\U000e0101`},
		"tag characters":             {in: "\U000e0041", want: `\U000e0041`},
		"spaces that are not spaces": {in: "a\u00a0b\u2003c\u2028d", want: `a\u00a0b\u2003c\u2028d`},
		"what is not UTF-8":          {in: "a\xff\xc3", want: `a\xff\xc3`},
		"a replacement character":    {in: "\ufffd", want: "\ufffd"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Sanitize(tc.in); got != tc.want {
				t.Errorf("Sanitize(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}
