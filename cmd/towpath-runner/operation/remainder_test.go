package operation

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestIsRemainder(t *testing.T) {
	t.Parallel()
	change := func(path, was, is string) v1alpha1.PropertyChange {
		return v1alpha1.PropertyChange{
			Path: path, Old: &apiextensionsv1.JSON{Raw: []byte(was)}, New: &apiextensionsv1.JSON{Raw: []byte(is)},
		}
	}
	step := func(kind v1alpha1.StepKind, urn string, changes ...v1alpha1.PropertyChange) v1alpha1.PlanStep {
		return v1alpha1.PlanStep{Kind: kind, URN: urn, Changes: changes}
	}
	approved := []v1alpha1.PlanStep{
		step(v1alpha1.StepCreate, "a", change("x", "null", "1")),
		step(v1alpha1.StepUpdate, "b", change("x", "1", "2"), change("y", "1", "2")),
		step(v1alpha1.StepDelete, "c"),
	}
	for name, test := range map[string]struct {
		steps []v1alpha1.PlanStep
		want  bool
	}{
		"nothing is left":                      {nil, true},
		"all is left":                          {approved, true},
		"some is left":                         {approved[1:], true},
		"what was created is waited for again": {[]v1alpha1.PlanStep{step(v1alpha1.StepUpdate, "a")}, true},
		"half of an update is left":            {[]v1alpha1.PlanStep{step(v1alpha1.StepUpdate, "b", change("y", "1", "2"))}, true},
		"an update that begins elsewhere":      {[]v1alpha1.PlanStep{step(v1alpha1.StepUpdate, "b", change("y", "7", "2"))}, true},
		"an update that ends elsewhere":        {[]v1alpha1.PlanStep{step(v1alpha1.StepUpdate, "b", change("y", "1", "3"))}, false},
		"an update of another property":        {[]v1alpha1.PlanStep{step(v1alpha1.StepUpdate, "b", change("z", "1", "2"))}, false},
		"what was created is changed":          {[]v1alpha1.PlanStep{step(v1alpha1.StepUpdate, "a", change("x", "0", "1"))}, false},
		"another value is created":             {[]v1alpha1.PlanStep{step(v1alpha1.StepCreate, "a", change("x", "null", "2"))}, false},
		"another resource":                     {[]v1alpha1.PlanStep{step(v1alpha1.StepCreate, "d")}, false},
		"what was to be updated is deleted":    {[]v1alpha1.PlanStep{step(v1alpha1.StepDelete, "b")}, false},
		"what was to be deleted is waited for": {[]v1alpha1.PlanStep{step(v1alpha1.StepUpdate, "c")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := isRemainder(approved, test.steps); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
