package static_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/towpath-dev/towpath/web/static"
)

// TestTextsCanBeRead computes the contrast of each text colour on the grounds that
// it is used on, as WCAG defines it.
func TestTextsCanBeRead(t *testing.T) {
	t.Parallel()
	const text, shape = 4.5, 3
	tests := map[string]struct {
		foreground string
		grounds    []string
		least      float64
	}{
		"plain text":          {"--fg", []string{"--bg", "--surface", "--sunken", "--wait-bg", "--update-bg", "--replace-bg", "--delete-bg", "--create-bg"}, text},
		"muted text":          {"--fg-muted", []string{"--bg", "--surface", "--sunken", "--wait-bg"}, text},
		"links":               {"--accent", []string{"--bg", "--surface", "--sunken", "--accent-bg", "--wait-bg"}, text},
		"a primary button":    {"--on-accent", []string{"--accent"}, text},
		"creates":             {"--create", []string{"--create-bg", "--surface", "--bg"}, text},
		"updates":             {"--update", []string{"--update-bg", "--surface", "--sunken"}, text},
		"replaces":            {"--replace", []string{"--replace-bg", "--surface"}, text},
		"deletes":             {"--delete", []string{"--delete-bg", "--surface", "--bg", "--sunken"}, text},
		"waiting":             {"--wait", []string{"--wait-bg", "--surface"}, text},
		"the edge of a field": {"--edge", []string{"--surface", "--bg"}, shape},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for theme := range 2 {
				for _, ground := range tc.grounds {
					got := contrast(t, colour(t, tc.foreground, theme), colour(t, ground, theme))
					if got < tc.least {
						t.Errorf("theme %d: %s on %s has contrast %.2f, want %.1f", theme, tc.foreground, ground, got, tc.least)
					}
				}
			}
		})
	}
}

var token = regexp.MustCompile(`(--[a-z0-9-]+):\s*([^;]+);`)

// colour is the value of a token in the light (0) or the dark theme (1).
func colour(t *testing.T, name string, theme int) string {
	t.Helper()
	value := ""
	for _, m := range token.FindAllStringSubmatch(string(static.Stylesheet.Content), -1) {
		if m[1] == name {
			value = m[2]
			break
		}
	}
	if inner, ok := strings.CutPrefix(value, "light-dark("); ok {
		halves := strings.Split(strings.TrimSuffix(inner, ")"), ", ")
		if len(halves) != 2 {
			t.Fatalf("%s is %q, want two values", name, value)
		}
		value = halves[theme]
	}
	if inner, ok := strings.CutPrefix(value, "var("); ok {
		return colour(t, strings.TrimRight(inner, ")"), theme)
	}
	if len(value) != 7 {
		t.Fatalf("%s is %q, want #rrggbb", name, value)
	}
	return value
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("read colour %q: %v", hex, err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
