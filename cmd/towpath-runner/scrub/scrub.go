// Package scrub takes known secrets out of text before it leaves the runner, in
// every form that an engine, a provider or an API server may have given them. It
// knows only what it is told: it does not guess what looks like a secret.
package scrub

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Mask stands in the place of a secret.
const Mask = "[secret]"

// shortest is the length below which a value is too common to be replaced: it
// would garble text and hide nothing.
const shortest = 3

// Scrubber replaces known secrets. It may be used by several goroutines, and
// secrets may be added while it is used.
type Scrubber struct {
	mu sync.RWMutex
	// forms holds what to look for by its first bytes, the longest first.
	forms map[prefix][]string
	known map[string]bool
}

type prefix [shortest]byte

// New gives a Scrubber that knows these secrets.
func New(secrets ...string) *Scrubber {
	s := &Scrubber{forms: map[prefix][]string{}, known: map[string]bool{}}
	s.Add(secrets...)
	return s
}

// Add makes secrets known from now on.
func (s *Scrubber) Add(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range secrets {
		if s.known[secret] || exempt(secret) {
			continue
		}
		s.known[secret] = true
		for _, form := range formsOf(secret) {
			s.insert(form)
		}
	}
}

func (s *Scrubber) insert(form string) {
	if exempt(form) {
		return
	}
	key := prefix([]byte(form[:shortest]))
	bucket := s.forms[key]
	at, found := slices.BinarySearchFunc(bucket, form, longestFirst)
	if !found {
		s.forms[key] = slices.Insert(bucket, at, form)
	}
}

func longestFirst(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
}

// exempt values are too common to be replaced; the engine exempts them too.
func exempt(value string) bool {
	return len(value) < shortest || value == "true" || value == "false"
}

// Text gives text with every known secret replaced by Mask. Secrets that overlap
// become one mask, so that nothing of either is left.
func (s *Scrubber) Text(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.forms) == 0 {
		return text
	}
	var out strings.Builder
	done := 0
	for i := 0; i+shortest <= len(text); i++ {
		end := s.matchEnd(text, i)
		if end == 0 {
			continue
		}
		for j := i + 1; j < end; j++ {
			end = max(end, s.matchEnd(text, j))
		}
		out.WriteString(text[done:i])
		out.WriteString(Mask)
		done, i = end, end-1
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// matchEnd is where the longest secret that begins at i ends; 0 if none does.
func (s *Scrubber) matchEnd(text string, i int) int {
	if i+shortest > len(text) {
		return 0
	}
	for _, form := range s.forms[prefix([]byte(text[i:i+shortest]))] {
		if strings.HasPrefix(text[i:], form) {
			return i + len(form)
		}
	}
	return 0
}
