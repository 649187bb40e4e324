// Package clock gives the time, so that tests can set it. It must not do
// anything else.
package clock

import "time"

// Clock tells the time.
type Clock interface{ Now() time.Time }

// System is the machine's clock.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time { return time.Now() }

// Fixed is a clock that stands still, for tests.
type Fixed time.Time

// Now implements Clock.
func (f Fixed) Now() time.Time { return time.Time(f) }
