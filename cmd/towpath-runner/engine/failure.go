package engine

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// Kind is the kind of a failure, as far as it makes a difference.
type Kind string

// The kinds of failure.
const (
	Refused      Kind = "Refused"      // the program or its settings are at fault
	Interrupted  Kind = "Interrupted"  // stopped on request, in order
	Killed       Kind = "Killed"       // stopped on request, by force
	StackMissing Kind = "StackMissing" // there is no such stack
	Locked       Kind = "Locked"       // somebody holds the stack's lock
	Violated     Kind = "Violated"     // the apply left the plan
	Forbidden    Kind = "Forbidden"    // the identity lacks a permission
	Unreachable  Kind = "Unreachable"  // the cluster or the backend cannot be reached
)

// Failure is an operation that did not succeed. Message is for people; it may
// hold secrets until it is scrubbed.
type Failure struct {
	Kind    Kind
	Message string
	Locks   []Lock
	Err     error
}

// Error implements error.
func (f *Failure) Error() string { return f.Message }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

func isKind(err error, kind Kind) bool {
	var f *Failure
	return errors.As(err, &f) && f.Kind == kind
}

// Lock is a lock as the engine's message describes it.
type Lock struct {
	User, Host string
	PID        int
	Since      string
}

var violation = regexp.MustCompile(`violates plan|is not allowed by the plan|none were seen|unexpectedly not deleted`)

// failure classifies an error of the Automation API by the engine's words.
func failure(ctx context.Context, err error, seen *report) error {
	words := describe(err, seen)
	f := &Failure{Kind: Refused, Message: words, Err: err}
	switch {
	case errors.Is(err, errKilled) || strings.Contains(err.Error(), errKilled.Error()):
		f.Kind, f.Message = Killed, "the engine did not end in time and was killed"
	case ctx.Err() != nil:
		f.Kind, f.Message = Interrupted, "it was stopped on request"
	case auto.IsSelectStack404Error(err) || strings.Contains(words, "no stack named"):
		f.Kind = StackMissing
	case auto.IsConcurrentUpdateError(err) || strings.Contains(err.Error(), "currently locked by"):
		f.Kind, f.Locks = Locked, parseLocks(err.Error())
		f.Message = "the stack is locked by " + describeLocks(f.Locks)
	case violation.MatchString(words):
		f.Kind = Violated
	case strings.Contains(words, "is forbidden: ") || strings.Contains(words, "Forbidden"):
		f.Kind = Forbidden
	case strings.Contains(words, "connection refused") || strings.Contains(words, "no such host") ||
		strings.Contains(words, "i/o timeout") || strings.Contains(words, "cluster unreachable"):
		f.Kind = Unreachable
	case strings.Contains(words, "incorrect passphrase"):
		f.Message = sentence(ErrPassphrase)
	}
	return f
}

// sentence makes a sentence's beginning of an error's text.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
