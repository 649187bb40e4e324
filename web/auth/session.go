package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/towpath-dev/towpath/internal/clock"
)

const (
	// fresh is how long a session that was read is believed without reading it
	// again: so long does a sign-out at one replica take to reach the others.
	fresh = 10 * time.Second
	// patience is how long it is believed while the store does not answer.
	patience = 2 * time.Minute
	// storePatience is how long the store may take to answer: whoever waits for a
	// page is told what is wrong while they still look at it.
	storePatience = 3 * time.Second

	sweepEvery = 10 * time.Minute
	maxCached  = 10_000
	// renewals is how often at most a session is renewed in its idle time, so
	// that not every click is a write.
	renewals = 20
)

// session is a person for a time.
type session struct {
	Person Person `json:"person"`
	// IDToken is kept to sign out at the provider.
	IDToken string    `json:"idToken"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
}

// expires is when the session ends unless it is used meanwhile.
func (s session) expires(idle, absolute time.Duration) time.Time {
	unused, last := s.Used.Add(idle), s.Created.Add(absolute)
	if unused.Before(last) {
		return unused
	}
	return last
}

// sessions keeps sessions in a store and remembers them for a moment.
type sessions struct {
	store          Store
	seal           sealer
	clock          clock.Clock
	log            *slog.Logger
	idle, absolute time.Duration

	mu    sync.Mutex
	cache map[string]cached
}

// cached is a session as it was read, or the memory that it has ended.
type cached struct {
	session session
	read    time.Time
	ended   bool
}

// begin stores a new session and returns its identifier, which is nowhere else
// but with the browser.
func (s *sessions) begin(ctx context.Context, person Person, idToken string) (string, error) {
	now := s.clock.Now()
	id := rand.Text()
	begun := session{Person: person, IDToken: idToken, Created: now, Used: now}
	record, err := s.record(id, begun)
	if err != nil {
		return "", err
	}
	if err := s.store.Create(ctx, digest(id), record); err != nil {
		return "", fmt.Errorf("store a session of %q: %w", person.Username, err)
	}
	_, err = s.remember(digest(id), begun, now)
	return id, err
}

// find returns a session that has not ended. If it is being used, its idle time
// begins anew.
func (s *sessions) find(ctx context.Context, id string, use bool) (session, error) {
	now := s.clock.Now()
	found, err := s.read(ctx, id, now)
	if err != nil {
		return session{}, err
	}
	if !now.Before(found.expires(s.idle, s.absolute)) {
		return session{}, ErrNoSession
	}
	if use && now.Sub(found.Used) >= s.idle/renewals {
		return s.renew(ctx, id, found, now)
	}
	return found, nil
}

func (s *sessions) read(ctx context.Context, id string, now time.Time) (session, error) {
	name := digest(id)
	known, ok := s.recall(name)
	if ok && known.ended {
		return session{}, ErrNoSession
	}
	if ok && now.Sub(known.read) < fresh {
		return known.session, nil
	}
	reading, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	record, err := s.store.Read(reading, name)
	if errors.Is(err, ErrNoSession) {
		s.forget(name, now)
		return session{}, ErrNoSession
	}
	if err != nil && ok && now.Sub(known.read) < patience {
		return known.session, nil
	}
	if err != nil {
		return session{}, fmt.Errorf("read a session: %w", err)
	}
	var found session
	if err := s.seal.open(id, record.Sealed, &found); err != nil {
		// Sealed by another key or under other rules: of no use any more.
		return session{}, ErrNoSession
	}
	return s.remember(name, found, now)
}

func (s *sessions) renew(ctx context.Context, id string, found session, now time.Time) (session, error) {
	found.Used = now
	record, err := s.record(id, found)
	if err != nil {
		return session{}, err
	}
	writing, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	err = s.store.Update(writing, digest(id), record)
	if errors.Is(err, ErrNoSession) {
		s.forget(digest(id), now)
		return session{}, ErrNoSession
	}
	if err != nil {
		// It is valid still, and will be renewed when it is used next.
		s.log.WarnContext(ctx, "session not renewed", "user", found.Person.Username, "err", err)
		return found, nil
	}
	return s.remember(digest(id), found, now)
}

// end ends a session and returns what it was, if that can be known.
func (s *sessions) end(ctx context.Context, id string) (session, error) {
	now := s.clock.Now()
	ended, err := s.read(ctx, id, now)
	if errors.Is(err, ErrNoSession) {
		return session{}, nil
	}
	// Even if the store is away, this replica knows it no more.
	s.forget(digest(id), now)
	if err := s.store.Delete(ctx, digest(id)); err != nil {
		return ended, fmt.Errorf("delete a session: %w", err)
	}
	return ended, nil
}

func (s *sessions) record(id string, of session) (Record, error) {
	sealed, err := s.seal.seal(id, of)
	if err != nil {
		return Record{}, fmt.Errorf("seal a session of %q: %w", of.Person.Username, err)
	}
	return Record{Sealed: sealed, Expires: of.expires(s.idle, s.absolute)}, nil
}

func (s *sessions) recall(name string) (cached, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.cache[name]
	return known, ok
}

// remember caches a session, unless it was ended while it was being read.
func (s *sessions) remember(name string, read session, now time.Time) (session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache[name].ended {
		return session{}, ErrNoSession
	}
	s.put(name, cached{session: read, read: now})
	return read, nil
}

// forget drops a session, and remembers that it has ended.
func (s *sessions) forget(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(name, cached{ended: true, read: now})
}

func (s *sessions) put(name string, entry cached) {
	if s.cache == nil {
		s.cache = map[string]cached{}
	}
	if _, known := s.cache[name]; !known && len(s.cache) >= maxCached {
		for other := range s.cache {
			// Any will do: it is read again when it is needed.
			delete(s.cache, other)
			break
		}
	}
	s.cache[name] = entry
}

// sweep removes expired sessions from the store and old ones from the cache.
func (s *sessions) sweep(ctx context.Context) error {
	now := s.clock.Now()
	s.mu.Lock()
	for name, entry := range s.cache {
		if now.Sub(entry.read) >= patience {
			delete(s.cache, name)
		}
	}
	s.mu.Unlock()
	return s.store.Sweep(ctx, now)
}
