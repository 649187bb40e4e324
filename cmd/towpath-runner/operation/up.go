package operation

import (
	"context"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/controller/runner"
)

// up applies the approved plan, or touches nothing and says what differs.
func (s *session) up(ctx context.Context) runner.Result {
	begun, err := s.begun()
	if err != nil {
		return s.failed(err)
	}
	if begun != nil && len(s.state.pending) > 0 {
		s.out.Logf(stream.Info, "An earlier apply of this plan was interrupted; it is continued with the same plan.")
		applied := s.apply(ctx, begun)
		if !applied.violated() {
			return s.report(applied)
		}
		s.out.Logf(stream.Info, "More of it was done than its plan knows; a new preview says what is left.")
	}
	if len(s.state.pending) > 0 {
		s.warnOfPending()
		if err := s.clearPending(ctx); err != nil {
			return s.failed(err)
		}
	}
	fresh, err := s.makePlan(ctx)
	if err != nil {
		return s.failed(err)
	}
	differences := s.compare(fresh)
	switch {
	case len(differences) == 0:
		begun, err = s.remember(fresh, fresh.plan.Steps)
	case begun != nil && isRemainder(begun.Steps, fresh.plan.Steps):
		s.out.Logf(stream.Info, "An earlier apply of this plan was interrupted; what is left of it is applied.")
		begun, err = s.remember(fresh, begun.Steps)
	default:
		s.forget()
		return s.diverged(fresh, differences)
	}
	if err != nil {
		return s.failed(err)
	}
	for _, step := range fresh.plan.Steps {
		s.out.Step(step)
	}
	return s.report(s.apply(ctx, begun))
}

func (s *session) diverged(fresh *planned, differences []v1alpha1.Difference) runner.Result {
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
