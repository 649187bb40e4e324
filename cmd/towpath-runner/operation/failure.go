package operation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/cluster"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/engine"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

// participles say what was not done.
var participles = map[v1alpha1.Operation]string{v1alpha1.Preview: "previewed", v1alpha1.Up: "applied"}

// failed is the result of a run that stopped before it changed anything.
func (s *session) failed(err error) runner.Result {
	nothing := "nothing was changed"
	if word := participles[s.job.Operation]; word != "" {
		nothing = "nothing was " + word
	}
	var unreachable *cluster.UnreachableError
	var denied *cluster.DeniedError
	var failure *engine.Failure
	switch {
	case errors.As(err, &unreachable):
		return runner.Result{
			Phase: v1alpha1.RunFailed, Retryable: true,
			Message: fmt.Sprintf("%s; %s.", capital(unreachable.Error()), nothing),
		}
	case errors.As(err, &denied):
		return runner.Result{
			Phase: v1alpha1.RunFailed, Message: fmt.Sprintf("%s; %s.", capital(denied.Error()), nothing),
		}
	case errors.As(err, &failure):
		return s.engineFailed(failure, nothing)
	}
	s.out.Logf(stream.Error, "%v", err)
	return runner.Result{Phase: v1alpha1.RunFailed, Message: fmt.Sprintf("%s; %s.", capital(err.Error()), nothing)}
}

func (s *session) engineFailed(f *engine.Failure, nothing string) runner.Result {
	result := runner.Result{Phase: v1alpha1.RunFailed}
	operation := strings.ToLower(string(s.job.Operation))
	switch f.Kind {
	case engine.Interrupted, engine.Killed:
		result.Phase = v1alpha1.RunInterrupted
		result.Message = fmt.Sprintf("The %s was stopped on request; %s.", operation, nothing)
	case engine.Locked:
		result.Retryable = true
		result.Message = fmt.Sprintf("%s; %s.", capital(f.Message), nothing)
	case engine.Unreachable:
		result.Retryable = true
		result.Message = fmt.Sprintf("The %s lost its connection: %s", operation, end(f.Message))
	case engine.Forbidden:
		result.Message = fmt.Sprintf("The identity of this %s lacks a permission: %s", operation, end(f.Message))
	case engine.Refused, engine.StackMissing, engine.Violated:
		// That it failed is the result's phase, and said by whoever shows it.
		result.Message = capital(end(f.Message))
	}
	return result
}

func capital(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// end ends a sentence.
func end(text string) string {
	return strings.TrimRight(strings.TrimSpace(text), ".") + "."
}
