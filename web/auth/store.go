package auth

import (
	"context"
	"errors"
	"time"
)

// ErrNoSession says that there is no such session: it has ended, or never was.
var ErrNoSession = errors.New("no such session")

// Record is a session as it is stored: sealed, so that the store can neither
// read nor make one.
type Record struct {
	Sealed []byte
	// Expires is when the record may be removed.
	Expires time.Time
}

// Store keeps records by name for all replicas of the portal. A name tells
// nothing: it is a digest of the session's identifier.
type Store interface {
	Create(ctx context.Context, name string, record Record) error
	// Read returns ErrNoSession for an unknown name.
	Read(ctx context.Context, name string) (Record, error)
	// Update returns ErrNoSession for an unknown name: to use a session must not
	// bring one back that was ended meanwhile.
	Update(ctx context.Context, name string, record Record) error
	// Delete returns nil for an unknown name.
	Delete(ctx context.Context, name string) error
	// Sweep deletes records that have expired.
	Sweep(ctx context.Context, now time.Time) error
}
