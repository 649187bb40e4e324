package gate

import (
	"fmt"
	"time"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Upstream is an environment that comes first, with how this change stands in it.
type Upstream struct {
	Environment string
	// Change is nil when the change does not go there.
	Change *v1alpha1.StackChange
}

// Turn says whether a change may be applied in an environment now: this very
// revision must be applied and healthy in every environment before it, no longer
// ago than the environment's freshness allows. Previews never satisfy it. nil
// means go; stale names an upstream environment that has to apply again.
func Turn(environment v1alpha1.Environment, upstream []Upstream, now time.Time) (wait *v1alpha1.Waiting, stale string) {
	for _, up := range upstream {
		switch {
		case up.Change == nil:
			return &v1alpha1.Waiting{
				Kind:    v1alpha1.WaitPrerequisite,
				Message: fmt.Sprintf("%s comes after %s, and this change does not go to %s.", environment.Name, up.Environment, up.Environment),
				Who:     "the author: propose the change for " + up.Environment + " too",
			}, ""
		case up.Change.Phase != v1alpha1.StackApplied || up.Change.AppliedAt == nil:
			return &v1alpha1.Waiting{
				Kind:    v1alpha1.WaitPrerequisite,
				Message: fmt.Sprintf("It goes to %s once it is applied and healthy in %s.", environment.Name, up.Environment),
				Who:     waitsFor(*up.Change),
			}, ""
		}
		if freshness := environment.Spec.Freshness; freshness != nil && now.Sub(up.Change.AppliedAt.Time) > freshness.Duration {
			return &v1alpha1.Waiting{
				Kind:    v1alpha1.WaitFreshness,
				Message: fmt.Sprintf("%s was last applied more than %s ago; it is applied again first.", up.Environment, Span(freshness.Duration)),
				Who:     "nobody: the controller previews and applies " + up.Environment + " again",
			}, up.Environment
		}
	}
	return nil, ""
}

func waitsFor(change v1alpha1.StackChange) string {
	if change.Waiting != nil && change.Waiting.Who != "" {
		return change.Waiting.Who
	}
	if change.Phase == v1alpha1.StackFailed {
		return "the author: " + change.Environment + " failed"
	}
	return "nobody: " + change.Environment + " is on its way"
}

// Prerequisite is spec.prerequisites of a Stack, in the operator's meaning: the
// other Stack's last operation was a successful up of its current generation and
// reconcile request, recent enough if the requirement says so. Stricter than the
// operator in one point: a preview or destroy does not count.
// wait is nil when it is satisfied.
func Prerequisite(ref pulumiv1.PrerequisiteRef, other *pulumiv1.Stack, now time.Time) *v1alpha1.Waiting {
	waiting := func(format string, args ...any) *v1alpha1.Waiting {
		return &v1alpha1.Waiting{Kind: v1alpha1.WaitPrerequisite, Message: fmt.Sprintf("Stack %s is a prerequisite and ", ref.Name) + fmt.Sprintf(format, args...) + ".", Who: "whoever can bring Stack " + ref.Name + " up"}
	}
	if other == nil {
		return waiting("does not exist")
	}
	last := other.Status.LastUpdate
	switch {
	case last == nil, last.Generation != other.Generation,
		last.ReconcileRequest != other.Annotations[pulumiv1.ReconciliationRequestAnnotation]:
		return waiting("has not run to completion")
	case last.State != pulumiv1.UpdateSucceeded:
		return waiting("failed")
	case last.Type != pulumiv1.UpdateTypeUp:
		return waiting("was not brought up: its last operation was a %s", last.Type)
	}
	if r := ref.Requirement; r != nil && r.SucceededWithinDuration != nil && now.Sub(last.LastResyncTime.Time) > r.SucceededWithinDuration.Duration {
		return waiting("is out of date: it succeeded more than %s ago", Span(r.SucceededWithinDuration.Duration))
	}
	return nil
}

// RetryDelay is the pause before attempt n+1 after n failures: 10 s, 30 s, 90 s,
// 270 s, then 5 min for as long as it takes.
func RetryDelay(failures int32) time.Duration {
	delay := 10 * time.Second
	for i := int32(1); i < failures; i++ {
		delay *= 3
		if delay > 5*time.Minute {
			return 5 * time.Minute
		}
	}
	return min(delay, 5*time.Minute)
}
