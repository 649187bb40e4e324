package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestAutoApprove(t *testing.T) {
	rules := func(expressions ...string) []v1alpha1.AutoApproveRule {
		var all []v1alpha1.AutoApproveRule
		for _, expression := range expressions {
			all = append(all, v1alpha1.AutoApproveRule{Expression: expression, Reason: "because " + expression})
		}
		return all
	}
	for name, test := range map[string]struct {
		rules  []v1alpha1.AutoApproveRule
		plan   v1alpha1.PlanSummary
		reason string
	}{
		"no rule":                       {nil, v1alpha1.PlanSummary{Create: 1}, ""},
		"an empty plan":                 {nil, v1alpha1.PlanSummary{Same: 3}, "Nothing changes"},
		"an empty plan before any rule": {rules("true"), v1alpha1.PlanSummary{}, "Nothing changes"},
		"the first that matches":        {rules("plan.create > 5", "plan.create > 1", "true"), v1alpha1.PlanSummary{Create: 3}, "because plan.create > 1"},
		"none that matches":             {rules("plan.create > 5", "plan.empty"), v1alpha1.PlanSummary{Create: 3}, ""},
		"every count is there": {
			rules("plan.create == 1 && plan.update == 2 && plan.replace == 3 && plan.delete == 4 && !plan.empty"),
			v1alpha1.PlanSummary{Create: 1, Update: 2, Replace: 3, Delete: 4},
			"because plan.create == 1 && plan.update == 2 && plan.replace == 3 && plan.delete == 4 && !plan.empty",
		},
	} {
		t.Run(name, func(t *testing.T) {
			reason, ok, err := AutoApprove(test.rules, test.plan)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.reason, reason); diff != "" || ok != (test.reason != "") {
				t.Errorf("approved: %t\n%s", ok, diff)
			}
		})
	}
}

func TestABrokenRuleApprovesNothing(t *testing.T) {
	deep := strings.Repeat("[0,1,2,3,4,5,6,7,8,9].all(x, ", 6) + "true" + strings.Repeat(")", 6)
	for name, test := range map[string]struct{ expression, want string }{
		"it does not compile":           {"plan.create ==", "Syntax error"},
		"it names what is not there":    {"change.author == 'ana'", "undeclared reference to 'change'"},
		"it reads a count that is none": {"plan.moved == 0", "no such key: moved"},
		"it gives a number":             {"plan.create", "it gives 1, not true or false"},
		"it gives a text":               {"'true'", "it gives true, not true or false"},
		"it costs too much":             {deep, "actual cost limit exceeded"},
		"it divides by nothing":         {"1 / plan.delete == 0", "division by zero"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := []v1alpha1.AutoApproveRule{{Expression: test.expression, Reason: "x"}, {Expression: "true", Reason: "y"}}
			reason, ok, err := AutoApprove(broken, v1alpha1.PlanSummary{Create: 1})
			if ok || reason != "" {
				t.Errorf("it approved: %q", reason)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
			}
		})
	}
}
