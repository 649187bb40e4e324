package operation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/engine"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	"github.com/towpath-dev/towpath/controller/plan"
)

// look reads the state anew.
func (s *session) look(ctx context.Context) error {
	export, err := s.engine.State(ctx)
	if err != nil {
		return err
	}
	s.state, err = s.readState(export)
	return err
}

// warnOfPending says what may be left over: an object that the program names is
// adopted by the next apply, one with a generated name is not.
func (s *session) warnOfPending() {
	for _, operation := range s.state.pending {
		s.out.Logf(stream.Warning, "An apply was interrupted while %s; the engine forgets this operation. "+
			"If its object exists under a generated name, it has to be deleted by hand.", operation)
	}
}

// clearPending makes the engine forget operations that it believes to be under
// way.
func (s *session) clearPending(ctx context.Context) error {
	s.out.Doing("repairing")
	err := s.unlocked(ctx, func() error {
		return s.engine.ClearPendingCreates(ctx, func(event plan.Event) { s.logDiagnostic(event) })
	})
	if err != nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if len(s.state.pending) > 0 {
		return errors.New("operations of an interrupted apply cannot be cleared: " + strings.Join(s.state.pending, ", "))
	}
	s.out.Logf(stream.Info, "The state is repaired.")
	return nil
}

// unlocked runs an operation that takes the stack's lock. A lock that a dead
// engine of this machine has left is removed, once; anybody else's is respected.
func (s *session) unlocked(ctx context.Context, run func() error) error {
	err := run()
	var failure *engine.Failure
	if !errors.As(err, &failure) || failure.Kind != engine.Locked || !allDead(failure.Locks) {
		return err
	}
	for _, lock := range failure.Locks {
		s.out.Logf(stream.Warning, "The lock of process %d of this machine, which is no more, is removed.", lock.PID)
	}
	if err := s.engine.Unlock(ctx); err != nil {
		return err
	}
	return run()
}

func allDead(locks []engine.Lock) bool {
	host, err := os.Hostname()
	if err != nil || len(locks) == 0 {
		return false
	}
	for _, lock := range locks {
		if lock.Host != host || engineLives(lock.PID) {
			return false
		}
	}
	return true
}

// engineLives reports whether a process is there and is a Pulumi engine: after a
// while its number is another program's.
func engineLives(pid int) bool {
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	// As in "42 (pulumi) S …"; Z is one that has ended and was not reaped.
	_, rest, _ := strings.Cut(string(stat), "(")
	name, state, _ := strings.Cut(rest, ") ")
	return name == "pulumi" && !strings.HasPrefix(state, "Z")
}
