package operation

import (
	"bytes"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
)

// isRemainder reports whether steps are what is left of approved ones after a
// part of them was done: nothing else, and to no other end.
func isRemainder(approved, steps []v1alpha1.PlanStep) bool {
	byURN := make(map[string][]v1alpha1.PlanStep, len(approved))
	for _, step := range approved {
		byURN[step.URN] = append(byURN[step.URN], step)
	}
	for _, step := range steps {
		if len(byURN[step.URN]) != 1 || !isLeftOf(byURN[step.URN][0], step) {
			return false
		}
	}
	return true
}

func isLeftOf(approved, step v1alpha1.PlanStep) bool {
	if step.Omitted > 0 || approved.Omitted > 0 {
		return false
	}
	switch {
	case step.Kind == approved.Kind && len(plan.CompareSteps([]v1alpha1.PlanStep{approved}, []v1alpha1.PlanStep{step})) == 0:
		return true
	case step.Kind == v1alpha1.StepUpdate && approved.Kind == v1alpha1.StepUpdate:
		return sameEnd(approved.Changes, step.Changes)
	case step.Kind == v1alpha1.StepUpdate:
		// It was made, but did not become ready: the engine waits for it again.
		return approved.Kind != v1alpha1.StepDelete && len(step.Changes) == 0
	}
	return false
}

// sameEnd reports whether changes lead to values that were approved.
func sameEnd(approved, changes []v1alpha1.PropertyChange) bool {
	ends := make(map[string]*v1alpha1.PropertyChange, len(approved))
	for i := range approved {
		ends[approved[i].Path] = &approved[i]
	}
	for _, change := range changes {
		end := ends[change.Path]
		if end == nil || (end.New == nil) != (change.New == nil) {
			return false
		}
		if end.New != nil && !bytes.Equal(end.New.Raw, change.New.Raw) {
			return false
		}
	}
	return true
}
