package auth

import (
	"fmt"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		// before asks before it is seen what address may do.
		before  func(*limiter)
		address string
		later   time.Duration
		want    bool
	}{
		"a first try":                         {address: "192.0.2.1", want: true},
		"one too many":                        {before: exhaust("192.0.2.1", now), address: "192.0.2.1", want: false},
		"after a pause":                       {before: exhaust("192.0.2.1", now), address: "192.0.2.1", later: time.Second, want: true},
		"another address is free":             {before: exhaust("192.0.2.1", now), address: "192.0.2.2", want: true},
		"the same address in other spelling":  {before: exhaust("192.0.2.1", now), address: "::ffff:192.0.2.1", want: false},
		"the same network":                    {before: exhaust("2001:db8::1", now), address: "2001:db8::ffff:2", want: false},
		"the same network by another door":    {before: exhaust("fe80::1%eth0", now), address: "fe80::1%eth1", want: false},
		"another network":                     {before: exhaust("2001:db8::1", now), address: "2001:db8:0:1::1", want: true},
		"what is no address counts as one":    {before: exhaust("one", now), address: "two", want: false},
		"all together are too many":           {before: crowd(allBurst, now), address: "192.0.2.1", want: false},
		"filling the memory frees nobody":     {before: overflow(now), address: "203.0.113.1", want: false},
		"the memory is emptied after a while": {before: overflow(now), address: "203.0.113.1", later: time.Minute, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLimiter()
			if test.before != nil {
				test.before(l)
			}
			if got := l.allow(test.address, now.Add(test.later)); got != test.want {
				t.Errorf("allow(%q) = %t, want %t", test.address, got, test.want)
			}
			if n := len(l.addresses); n > maxAddresses {
				t.Errorf("the memory holds %d addresses", n)
			}
		})
	}
}

func exhaust(address string, now time.Time) func(*limiter) {
	return func(l *limiter) {
		for range addressBurst {
			l.allow(address, now)
		}
	}
}

func crowd(size int, now time.Time) func(*limiter) {
	return func(l *limiter) {
		for i := range size {
			l.allow(fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255), now)
		}
	}
}

// overflow fills the memory, and then uses up what is left for newcomers; that
// all together are too many is left out of account.
func overflow(now time.Time) func(*limiter) {
	return func(l *limiter) {
		crowd(maxAddresses, now)(l)
		for i := range addressBurst {
			l.allow(fmt.Sprintf("198.51.100.%d", i), now)
		}
		l.all = newLimiter().all
	}
}
