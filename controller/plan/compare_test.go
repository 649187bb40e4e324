package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	original := Digest(map[string]string{"program": "1", "state": "2"}, "e")
	if Digest(map[string]string{"state": "2", "program": "1"}, "e") != original {
		t.Error("the same inputs give another digest")
	}
	if Digest(nil, "e") != Digest(map[string]string{}, "e") {
		t.Error("no inputs and empty inputs differ")
	}
	for name, other := range map[string]string{
		"another value":         Digest(map[string]string{"program": "1", "state": "3"}, "e"),
		"a further input":       Digest(map[string]string{"program": "1", "state": "2", "x": ""}, "e"),
		"a value moved":         Digest(map[string]string{"program": "2", "state": "1"}, "e"),
		"another effect digest": Digest(map[string]string{"program": "1", "state": "2"}, "f"),
	} {
		if other == original {
			t.Errorf("%s gives the same digest", name)
		}
	}
}

func TestCompareInputs(t *testing.T) {
	t.Parallel()
	got := CompareInputs(
		map[string]string{"state": "1", "program": "1", "cluster": "1", "gone": "1", "weather": "sun"},
		map[string]string{"state": "2", "program": "1", "cluster": "2", "new": "1", "weather": "rain"},
	)
	want := []v1alpha1.Difference{
		{What: "cluster", Detail: "the cluster is not the one that the plan was made against"},
		{What: "gone", Detail: "is gone: the approved plan was made with it"},
		{What: "new", Detail: "is new: the approved plan was made without it"},
		{What: "state", Detail: "the stack's state changed after the plan was made: something else ran an operation on it"},
		{What: "weather", Detail: "changed after the plan was made"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("differences (-want +got):\n%s", d)
	}
}

func TestCompareSteps(t *testing.T) {
	t.Parallel()
	deploy := func(kind v1alpha1.StepKind, changes ...v1alpha1.PropertyChange) v1alpha1.PlanStep {
		return v1alpha1.PlanStep{
			Kind: kind, URN: deployURN, Type: deployType, Name: "web-deployment", Object: "shop-dev/web", Changes: changes,
		}
	}
	replicas := func(old, now string) v1alpha1.PropertyChange {
		return v1alpha1.PropertyChange{Path: "spec.replicas", Old: jsonOf(old), New: jsonOf(now)}
	}
	cut := deploy(v1alpha1.StepUpdate)
	cut.Omitted = 2
	const long = 400
	tests := map[string]struct {
		approved, now []v1alpha1.PlanStep
		want          []string
	}{
		"the same plan": {
			approved: []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", "2"))},
			now:      []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", "2"))},
		},
		"another kind of step": {
			approved: []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate)},
			now:      []v1alpha1.PlanStep{deploy(v1alpha1.StepReplace)},
			want:     []string{"would now be replaced, the approved plan updates it"},
		},
		"a further step": {
			now:  []v1alpha1.PlanStep{deploy(v1alpha1.StepDelete)},
			want: []string{"would now be deleted, the approved plan leaves it as it is"},
		},
		"a missing step": {
			approved: []v1alpha1.PlanStep{deploy(v1alpha1.StepCreate)},
			want:     []string{"would no longer be created, as the approved plan says"},
		},
		"another new value": {
			approved: []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", "3"))},
			now:      []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", "5"))},
			want:     []string{"spec.replicas: approved 3, now 5"},
		},
		"another old value": {
			approved: []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", "3"))},
			now:      []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("2", "3"))},
			want:     []string{"spec.replicas: was 1 when approved, is 2 now"},
		},
		"a further and a missing property": {
			approved: []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, v1alpha1.PropertyChange{Path: "a", New: jsonOf("1")})},
			now:      []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, v1alpha1.PropertyChange{Path: "b", Old: jsonOf("2")})},
			want: []string{
				"a: would no longer change, the approved plan says to 1",
				"b: would now change too, removing 2",
			},
		},
		"properties that were cut off are not missing": {
			approved: []v1alpha1.PlanStep{cut},
			now:      []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", "2"))},
		},
		"a difference far inside a long value": {
			approved: []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", `"`+strings.Repeat("x", long)+`good"`))},
			now:      []v1alpha1.PlanStep{deploy(v1alpha1.StepUpdate, replicas("1", `"`+strings.Repeat("x", long)+`evil"`))},
			want:     []string{`spec.replicas: approved (394 bytes unchanged) …xxxxxxxgood", now (394 bytes unchanged) …xxxxxxxevil"`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []v1alpha1.Difference
			for _, detail := range tc.want {
				want = append(want, v1alpha1.Difference{What: "shop-dev/web Deployment", Detail: detail})
			}
			if d := cmp.Diff(want, CompareSteps(tc.approved, tc.now)); d != "" {
				t.Errorf("differences (-want +got):\n%s", d)
			}
		})
	}
}

func TestCompareStepsStopsSomewhere(t *testing.T) {
	t.Parallel()
	var now []v1alpha1.PlanStep
	for i := range 80 {
		now = append(now, v1alpha1.PlanStep{Kind: v1alpha1.StepCreate, URN: strings.Repeat("x", i+1)})
	}
	got := CompareSteps(nil, now)
	if last := got[len(got)-1]; len(got) != maxDifferences+1 || last.Detail != "30 further differences" {
		t.Errorf("%d differences, the last is %v", len(got), last)
	}
}
