package plan

import (
	"fmt"
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
		createsDetailed, graveCut := false, false
		for i, step := range got.Steps {
			if step.URN != p.Steps[i].URN {
				t.Fatalf("limit %d: step %d is %s, want %s", limit, i, step.URN, p.Steps[i].URN)
			}
			if len(step.Changes)+int(step.Omitted) != len(p.Steps[i].Changes) {
				t.Fatalf("limit %d: %s has %d changes and %d omitted", limit, step.URN, len(step.Changes), step.Omitted)
			}
			if step.Kind == v1alpha1.StepReplace && len(step.Changes) > 0 && step.Omitted > 0 && !step.Changes[0].Replaces {
				t.Fatalf("limit %d: %s does not say first what forces it", limit, step.URN)
			}
			if step.Kind == v1alpha1.StepCreate {
				createsDetailed = createsDetailed || len(step.Changes) > 1
			} else {
				graveCut = graveCut || step.Omitted > 1
			}
		}
		if createsDetailed && graveCut {
			t.Fatalf("limit %d: creates have properties while graver steps go without", limit)
		}
	}
}
