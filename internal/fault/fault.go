// Package fault holds the errors that people may read. An error that is not a
// *fault.Error is internal: it is logged, and people see a plain general
// sentence. The package knows nothing of Kubernetes, Pulumi or HTTP.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what can be done about an error.
type Kind int

// The kinds. The zero Kind is not used by any Error.
const (
	_           Kind = iota
	Invalid          // what was given is wrong: change it
	Forbidden        // the person lacks a right
	NotFound         // it does not exist, or the person may not see it
	Conflict         // it exists already, or changed meanwhile
	Unavailable      // try again later
)

// Error is a failure with a kind to act on and a sentence that a person may read.
type Error struct {
	Kind Kind
	// Message is a plain sentence: what is wrong, what to do. Never a secret.
	Message string
	// Err is the cause, for the log; it never leaves the process.
	Err error
}

// Error implements error; it is for logs.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an Error; err may be nil.
func New(kind Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: err, Message: fmt.Sprintf(format, args...)}
}

// Is reports whether err is an Error of this kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// Message returns the sentence for people, and whether there is one.
func Message(err error) (string, bool) {
	var e *Error
	if errors.As(err, &e) {
		return e.Message, true
	}
	return "", false
}
