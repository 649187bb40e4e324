package gate

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		14 * time.Second:        "14 seconds",
		time.Minute:             "1 minute",
		90 * time.Second:        "90 seconds",
		90 * time.Minute:        "90 minutes",
		24 * time.Hour:          "24 hours",
		30 * time.Hour:          "30 hours",
		7 * 24 * time.Hour:      "7 days",
		1500 * time.Millisecond: "1 second",
	} {
		if got := Span(d); got != want {
			t.Errorf("%s is said as %q, want %q", d, got, want)
		}
	}
}
