package gate

import (
	"fmt"
	"time"
)

// Span is a duration as people say it: 7 days, 24 hours, 90 seconds.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day && d%day == 0:
		return count(d/day, "day")
	case d >= time.Hour && d%time.Hour == 0:
		return count(d/time.Hour, "hour")
	case d >= time.Minute && d%time.Minute == 0:
		return count(d/time.Minute, "minute")
	}
	return count(d/time.Second, "second")
}

func count(n time.Duration, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
