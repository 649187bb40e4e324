package operation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/engine"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/controller/runner"
)

// afterwards bounds what is still done once the run was asked to stop: look at
// the state, remove the own lock.
const afterwards = 2 * time.Minute

// applied is what came of running the engine within a plan.
type applied struct {
	begun  *begunApply
	before *state
	events []plan.Event
	err    error
	// lookErr says why the state could not be read afterwards.
	lookErr error
}

func (a *applied) failure() *engine.Failure {
	var failure *engine.Failure
	errors.As(a.err, &failure)
	return failure
}

func (a *applied) violated() bool {
	failure := a.failure()
	return a.lookErr == nil && failure != nil && failure.Kind == engine.Violated
}

// apply runs the engine within a plan and looks at what came of it.
func (s *session) apply(ctx context.Context, begun *begunApply) *applied {
	a := &applied{begun: begun, before: s.state}
	s.out.Doing("applying")
	a.err = s.unlocked(ctx, func() error {
		a.events = nil
		return s.engine.Up(ctx, begun.planFile, func(event plan.Event) {
			a.events = append(a.events, event)
			s.logDiagnostic(event)
			s.logProgress(event)
		})
	})
	if failure := a.failure(); failure != nil && failure.Kind == engine.Locked {
		return a
	}
	s.out.Doing("reading the state again")
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer stop()
	a.lookErr = s.settle(ctx, a)
	return a
}

// report is the result of an apply.
func (s *session) report(a *applied) runner.Result {
	if failure := a.failure(); failure != nil && failure.Kind == engine.Locked {
		return s.failed(failure)
	}
	if a.lookErr != nil {
		s.out.Logf(stream.Error, "%v", a.lookErr)
		return runner.Result{
			Phase: v1alpha1.RunFailed, Retryable: true, NeedsRepair: true,
			Message: "The apply ended, but the state could not be read afterwards: what changed is not known. " + end(a.lookErr.Error()),
		}
	}
	if a.err != nil {
		return s.stopped(a)
	}
	s.forget()
	done, err := plan.Build(a.events)
	if err != nil {
		return s.failed(err)
	}
	return runner.Result{
		Phase:        v1alpha1.RunSucceeded,
		Message:      "Applied: " + outcome(done.Summary) + ".",
		Summary:      &done.Summary,
		PlanDigest:   s.job.Approved.Digest,
		EffectDigest: s.job.Approved.EffectDigest,
		Inputs:       s.job.Approved.Inputs,
		Outputs:      done.Outputs,
		Objects:      s.state.objects,
		State:        s.state.resources,
	}
}

// settle leaves the stack without the own lock and without operations that the
// engine believes to be under way, and reads the state anew. Operations of an
// engine that was killed stay: the same plan, run again, finds what they made.
func (s *session) settle(ctx context.Context, a *applied) error {
	failure := a.failure()
	killed := failure != nil && failure.Kind == engine.Killed
	if killed {
		s.out.Logf(stream.Warning, "The engine was killed; its lock is removed.")
		if err := s.engine.Unlock(ctx); err != nil {
			return err
		}
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if killed || len(s.state.pending) == 0 {
		return nil
	}
	if a.err == nil {
		s.out.Logf(stream.Info, "What the interrupted apply had begun was found and taken over.")
	} else {
		s.warnOfPending()
	}
	return s.clearPending(ctx)
}

// stopped is the result of an apply that did not come to its end.
func (s *session) stopped(a *applied) runner.Result {
	changes := plan.CompareStateResources(effective(a.before.resources), effective(s.state.resources))
	for i := range changes {
		changes[i].Detail = strings.Replace(changes[i].Detail, " after the plan was made", " by this apply", 1)
	}
	touched := "The state shows no change."
	if n := len(changes); n > 0 {
		touched = fmt.Sprintf("Before that it changed %s.", counted(n, "resource"))
	}
	result := runner.Result{
		Phase:       v1alpha1.RunFailed,
		Differences: changes,
		Objects:     s.state.objects,
		State:       s.state.resources,
		Summary:     &a.begun.Summary,
		NeedsRepair: len(s.state.pending) > 0,
	}
	failure := a.failure()
	if failure == nil {
		s.out.Logf(stream.Error, "%v", a.err)
		result.Message = capital(end(a.err.Error())) + " " + touched
		return result
	}
	switch failure.Kind {
	case engine.Interrupted:
		result.Phase = v1alpha1.RunInterrupted
		result.Message = "The apply was stopped on request. " + touched
	case engine.Killed:
		result.Phase = v1alpha1.RunInterrupted
		result.Message = "The apply was stopped on request and had to be killed. " + touched
		if result.NeedsRepair {
			result.Message += " " + capital(counted(len(s.state.pending), "operation")) +
				" may be half done; the next apply repairs this first."
		}
	case engine.Violated:
		result.Message = "The engine stopped where the apply would have left the approved plan. " + touched + " " + end(failure.Message)
	case engine.Unreachable:
		result.Retryable = true
		result.Message = "The apply lost its connection. " + touched + " " + end(failure.Message)
	case engine.Forbidden:
		result.Message = "The identity of this apply lacks a permission. " + touched + " " + end(failure.Message)
	case engine.Refused, engine.StackMissing, engine.Locked:
		result.Message = capital(end(failure.Message)) + " " + touched
	}
	return result
}

// effective leaves out the Stack and providers, which are no one's resources.
func effective(resources map[string]string) map[string]string {
	rest := maps.Clone(resources)
	maps.DeleteFunc(rest, func(urn, _ string) bool { return strings.Contains(urn, "::pulumi:") })
	return rest
}

// outcome is a summary of what was done.
func outcome(s v1alpha1.PlanSummary) string {
	var parts []string
	for _, part := range []struct {
		n    int32
		word string
	}{{s.Create, "created"}, {s.Update, "updated"}, {s.Replace, "replaced"}, {s.Delete, "deleted"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	if len(parts) == 0 {
		return "nothing had to change"
	}
	return strings.Join(parts, ", ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
