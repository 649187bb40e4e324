package auth

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A person needs two requests to sign in; an office behind one address is a few
// hundred people who do not all come at once.
const (
	addressRate  rate.Limit = 2
	addressBurst            = 60
	allRate      rate.Limit = 50
	allBurst                = 500

	maxAddresses = 10_000
	tidyEvery    = time.Second
)

// limiter bounds how often sign-ins are tried, by client address and by all
// together. Its memory is bounded; when it is full, newcomers share what is left
// for them, so that filling it frees nobody.
type limiter struct {
	mu        sync.Mutex
	addresses map[netip.Prefix]*rate.Limiter
	newcomers *rate.Limiter
	all       *rate.Limiter
	tidied    time.Time
}

func newLimiter() *limiter {
	return &limiter{
		addresses: map[netip.Prefix]*rate.Limiter{},
		newcomers: rate.NewLimiter(addressRate, addressBurst),
		all:       rate.NewLimiter(allRate, allBurst),
	}
}

// allow reports whether one more try from this address is in order.
func (l *limiter) allow(address string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	// The address first: one that is over its limit must not use up everybody's.
	return l.of(network(address), now).AllowN(now, 1) && l.all.AllowN(now, 1)
}

func (l *limiter) of(network netip.Prefix, now time.Time) *rate.Limiter {
	if known, ok := l.addresses[network]; ok {
		return known
	}
	if len(l.addresses) >= maxAddresses {
		l.tidy(now)
	}
	if len(l.addresses) >= maxAddresses {
		return l.newcomers
	}
	fresh := rate.NewLimiter(addressRate, addressBurst)
	l.addresses[network] = fresh
	return fresh
}

// tidy forgets addresses that may do all that a new one may.
func (l *limiter) tidy(now time.Time) {
	if now.Sub(l.tidied) < tidyEvery {
		return
	}
	l.tidied = now
	for network, limit := range l.addresses {
		if limit.TokensAt(now) >= addressBurst {
			delete(l.addresses, network)
		}
	}
}

// network is what one client can be expected to hold: an IPv4 address, or the
// /64 of an IPv6 one. All that is no address counts as one.
func network(address string) netip.Prefix {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Prefix{}
	}
	parsed = parsed.Unmap().WithZone("")
	bits := 64
	if parsed.Is4() {
		bits = 32
	}
	return netip.PrefixFrom(parsed, bits).Masked()
}
