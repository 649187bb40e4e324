package components

import (
	"fmt"
	"time"
)

// Moment is a point in time as a reader sees it now.
func Moment(at, now time.Time) MomentView {
	if at.IsZero() {
		return MomentView{}
	}
	at = at.UTC()
	return MomentView{
		Machine: at.Format(time.RFC3339),
		Text:    at.Format("2 Jan 2006, 15:04 UTC"),
		Ago:     ago(now.Sub(at)),
	}
}

// ago is rough on purpose: nobody decides by the second.
func ago(d time.Duration) string {
	if d < 0 {
		return "in " + span(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 48*time.Hour:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}
