package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		plan    v1alpha1.RunPlan
		summary v1alpha1.PlanSummary
		want    string
	}{
		"nothing to do": {
			summary: v1alpha1.PlanSummary{Same: 3},
			want:    "no changes (3 unchanged)\n",
		},
		"steps of components and without": {
			plan: v1alpha1.RunPlan{Steps: []v1alpha1.PlanStep{
				{Kind: v1alpha1.StepDelete, Type: configType, Name: "old", Object: "shop/old", Parent: "web"},
				{Kind: v1alpha1.StepReplace, Type: "kubernetes:apps/v1:StatefulSet", Name: "db", Object: "shop/db", Changes: []v1alpha1.PropertyChange{
					{Path: "spec.serviceName", Old: jsonOf(`"db"`), New: jsonOf(`"db2"`), Replaces: true},
				}},
				{Kind: v1alpha1.StepUpdate, Type: deployType, Name: "web", Object: "shop/web", Parent: "web", Omitted: 1, Changes: []v1alpha1.PropertyChange{
					{Path: "a", New: jsonOf(`1`)}, {Path: "b", Old: jsonOf(`2`)}, {Path: "c"},
				}},
				{Kind: v1alpha1.StepCreate, Type: "pulumi:providers:kubernetes", Name: "k", Changes: []v1alpha1.PropertyChange{
					{Path: "namespace", New: jsonOf(`"shop"`)},
				}},
			}, Omitted: 2},
			summary: v1alpha1.PlanSummary{Create: 3, Update: 1, Replace: 1, Delete: 1},
			want: `3 to create, 1 to update, 1 to replace, 1 to delete

web:
  - delete  shop/old ConfigMap

outside components:
  ± replace shop/db StatefulSet
      spec.serviceName: "db" → "db2"  (forces the replacement)

web:
  ~ update  shop/web Deployment
      a: added, 1
      b: removed, was 2
      c: changes
      … and 1 more property, not shown here

outside components:
  + create  k kubernetes provider
      namespace: "shop"

… and 2 more steps, not shown here.
`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, Text(tc.plan, tc.summary)); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
		})
	}
}

func TestTextShowsHostileNamesAsEscapes(t *testing.T) {
	t.Parallel()
	hostile := "web\x1b[2K\u202e\u200bx\n  + create  fake"
	got := Text(v1alpha1.RunPlan{Steps: []v1alpha1.PlanStep{{
		Kind: v1alpha1.StepDelete, Type: hostile, Name: hostile, Object: hostile, Parent: hostile,
		Changes: []v1alpha1.PropertyChange{{Path: hostile, Old: jsonOf("\"\u202e\"")}},
	}}}, v1alpha1.PlanSummary{Delete: 1})
	if strings.ContainsAny(got, "\x1b\u202e\u200b") {
		t.Errorf("text = %q", got)
	}
	if lines := strings.Count(got, "\n"); lines != 5 {
		t.Errorf("%d lines, want 5:\n%s", lines, got)
	}
}
