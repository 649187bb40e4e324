package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// bigPlan has ten steps of each kind with five properties each.
func bigPlan() Plan {
	var p Plan
	for _, kind := range []v1alpha1.StepKind{v1alpha1.StepDelete, v1alpha1.StepReplace, v1alpha1.StepUpdate, v1alpha1.StepCreate} {
		for i := range 10 {
			step := v1alpha1.PlanStep{Kind: kind, URN: fmt.Sprintf("urn:%s:%02d", kind, i), Name: "n", Type: "t"}
			for j := range 5 {
				if kind == v1alpha1.StepDelete {
					break
				}
				step.Changes = append(step.Changes, v1alpha1.PropertyChange{
					Path: fmt.Sprintf("p%d", j), New: jsonOf(`"` + strings.Repeat("<", 20) + `"`), Replaces: j == 4 && kind == v1alpha1.StepReplace,
				})
			}
			p.Steps = append(p.Steps, step)
		}
	}
	return p
}

func TestBoundKeepsAPlanThatFits(t *testing.T) {
	t.Parallel()
	p := bigPlan()
	if d := cmp.Diff(v1alpha1.RunPlan{Steps: p.Steps}, Bound(p, 1<<20)); d != "" {
		t.Errorf("plan (-want +got):\n%s", d)
	}
	if got := Bound(Plan{}, 1<<20); got.Steps == nil || got.Omitted != 0 {
		t.Errorf("an empty plan becomes %v", got)
	}
}

func TestBoundNeverExceedsAndDropsTheHarmlessFirst(t *testing.T) {
	t.Parallel()
	p := bigPlan()
	for limit := 0; limit < size(Bound(p, 1<<20))+100; limit += 37 {
		got := Bound(p, limit)
		if n := size(got); n > limit && len(got.Steps) > 0 {
			t.Fatalf("limit %d: %d bytes", limit, n)
		}
		if len(got.Steps)+int(got.Omitted) != len(p.Steps) {
			t.Fatalf("limit %d: %d steps and %d omitted of %d", limit, len(got.Steps), got.Omitted, len(p.Steps))
		}
		for i, step := range got.Steps {
			checkBounded(t, limit, step, p.Steps[i])
		}
		creates := func(s v1alpha1.PlanStep) bool { return s.Kind == v1alpha1.StepCreate && len(s.Changes) > 1 }
		graver := func(s v1alpha1.PlanStep) bool { return s.Kind != v1alpha1.StepCreate && s.Omitted > 1 }
		if slices.ContainsFunc(got.Steps, creates) && slices.ContainsFunc(got.Steps, graver) {
			t.Fatalf("limit %d: creates have properties while graver steps go without", limit)
		}
	}
}

// checkBounded compares a step of a bounded plan with the whole step.
func checkBounded(t *testing.T, limit int, got, whole v1alpha1.PlanStep) {
	t.Helper()
	if got.URN != whole.URN {
		t.Fatalf("limit %d: step %s, want %s", limit, got.URN, whole.URN)
	}
	if len(got.Changes)+int(got.Omitted) != len(whole.Changes) {
		t.Fatalf("limit %d: %s has %d changes and %d omitted", limit, got.URN, len(got.Changes), got.Omitted)
	}
	if got.Kind == v1alpha1.StepReplace && got.Omitted > 0 && len(got.Changes) > 0 && !got.Changes[0].Replaces {
		t.Fatalf("limit %d: %s does not say first what forces it", limit, got.URN)
	}
}
