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

// up applies the approved plan, or touches nothing and says what differs.
func (s *session) up(ctx context.Context) runner.Result {
	interrupted, err := s.recall()
	if err != nil {
		return s.failed(err)
	}
	if interrupted != nil && s.continues(interrupted) {
		s.out.Logf(stream.Info, "An earlier apply of this plan was interrupted; it is continued with the same plan.")
		return s.apply(ctx, interrupted)
	}
	if err := s.repair(ctx); err != nil {
		return s.failed(err)
	}
	fresh, err := s.makePlan(ctx)
	if err != nil {
		return s.failed(err)
	}
	if differences := s.compare(fresh); len(differences) > 0 {
		return runner.Result{
			Phase:        v1alpha1.RunDiverged,
			Message:      "What would happen now is not what was approved; nothing was applied.",
			Differences:  differences,
			Summary:      &fresh.plan.Summary,
			PlanDigest:   fresh.digest,
			EffectDigest: fresh.plan.EffectDigest,
			Inputs:       fresh.inputs,
			State:        s.state.resources,
		}
	}
	for _, step := range fresh.plan.Steps {
		s.out.Step(step)
	}
	begun, err := s.remember(fresh)
	if err != nil {
		return s.failed(err)
	}
	return s.apply(ctx, begun)
}

// compare says how a fresh plan differs from the approved one.
func (s *session) compare(fresh *planned) []v1alpha1.Difference {
	approved := s.job.Approved
	if fresh.digest == approved.Digest {
		return nil
	}
	differences := plan.CompareInputs(approved.Inputs, fresh.inputs)
	if approved.Inputs["state"] != fresh.inputs["state"] && s.job.ApprovedState != nil {
		differences = append(differences, plan.CompareStateResources(s.job.ApprovedState, s.state.resources)...)
	}
	if approved.EffectDigest == fresh.plan.EffectDigest {
		if len(differences) == 0 {
			differences = []v1alpha1.Difference{{What: "plan", Detail: "the approved digest does not belong to the approved inputs"}}
		}
		return differences
	}
	var steps []v1alpha1.Difference
	if s.job.ApprovedSteps != nil {
		steps = plan.CompareSteps(s.job.ApprovedSteps, fresh.plan.Steps)
	}
	if len(steps) == 0 {
		steps = []v1alpha1.Difference{{What: "steps", Detail: "what would be done is not what was approved: now " + fresh.plan.Summary.Text}}
	}
	return append(differences, steps...)
}

// afterwards bounds what is still done once the run was asked to stop: look at
// the state, remove the own lock.
const afterwards = 2 * time.Minute

// apply runs the engine within a plan and looks at what came of it.
func (s *session) apply(ctx context.Context, begun *begunApply) runner.Result {
	before := s.state
	var events []plan.Event
	s.out.Doing("applying")
	err := s.unlocked(ctx, func() error {
		events = nil
		return s.engine.Up(ctx, begun.planFile, func(event plan.Event) {
			events = append(events, event)
			s.logDiagnostic(event)
			s.logProgress(event)
		})
	})
	var failure *engine.Failure
	if errors.As(err, &failure) && failure.Kind == engine.Locked {
		s.forget()
		return s.failed(err)
	}

	s.out.Doing("reading the state again")
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer stop()
	if lookErr := s.settle(ctx, err); lookErr != nil {
		s.out.Logf(stream.Error, "%v", lookErr)
		return runner.Result{
			Phase: v1alpha1.RunFailed, Retryable: true, NeedsRepair: true,
			Message: "The apply ended, but the state could not be read afterwards: what changed is not known. " + end(lookErr.Error()),
		}
	}
	if err != nil {
		return s.stopped(err, before, begun)
	}
	applied, err := plan.Build(events)
	if err != nil {
		return s.failed(err)
	}
	return runner.Result{
		Phase:        v1alpha1.RunSucceeded,
		Message:      "Applied: " + outcome(applied.Summary) + ".",
		Summary:      &applied.Summary,
		PlanDigest:   s.job.Approved.Digest,
		EffectDigest: s.job.Approved.EffectDigest,
		Inputs:       s.job.Approved.Inputs,
		Outputs:      applied.Outputs,
		Objects:      s.state.objects,
		State:        s.state.resources,
	}
}

// settle leaves the stack without the own lock and without operations that the
// engine believes to be under way, and reads the state anew. Operations of an
// engine that was killed stay: the same plan, run again, finds what they made.
func (s *session) settle(ctx context.Context, applied error) error {
	var failure *engine.Failure
	killed := errors.As(applied, &failure) && failure.Kind == engine.Killed
	if killed {
		s.out.Logf(stream.Warning, "The engine was killed; its lock is removed.")
		if err := s.engine.Unlock(ctx); err != nil {
			return err
		}
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if len(s.state.pending) == 0 {
		s.forget()
		return nil
	}
	if killed {
		return nil
	}
	if applied == nil {
		s.out.Logf(stream.Info, "What the interrupted apply had begun was found and taken over.")
	} else {
		s.warnOfPending()
	}
	if err := s.clearPending(ctx); err != nil {
		return err
	}
	s.forget()
	return nil
}

// stopped is the result of an apply that did not come to its end.
func (s *session) stopped(err error, before *state, begun *begunApply) runner.Result {
	changes := plan.CompareStateResources(effective(before.resources), effective(s.state.resources))
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
		Summary:     &begun.Summary,
		NeedsRepair: len(s.state.pending) > 0,
	}
	var failure *engine.Failure
	if !errors.As(err, &failure) {
		s.out.Logf(stream.Error, "%v", err)
		result.Message = "The apply failed: " + end(err.Error()) + " " + touched
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
		result.Message = "The apply failed: " + end(failure.Message) + " " + touched
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

// withoutOutcome are a plan's inputs save those that an interrupted apply of it
// has itself changed.
func withoutOutcome(inputs map[string]string) map[string]string {
	rest := maps.Clone(inputs)
	delete(rest, "state")
	delete(rest, "plan")
	return rest
}
