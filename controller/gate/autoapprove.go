package gate

import (
	"fmt"

	"github.com/google/cel-go/cel"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// EmptyPlanReason is recorded for a plan that changes nothing. Such a plan must
// approve itself, or freshness windows would deadlock.
const EmptyPlanReason = "Nothing changes"

// AutoApprove returns the reason of the first rule that matches a plan. A rule
// that does not compile or does not give a bool is an error: it approves nothing.
func AutoApprove(rules []v1alpha1.AutoApproveRule, summary v1alpha1.PlanSummary) (reason string, ok bool, err error) {
	if summary.Empty() {
		return EmptyPlanReason, true, nil
	}
	for _, rule := range rules {
		matches, err := evaluate(rule.Expression, summary)
		if err != nil {
			return "", false, fmt.Errorf("auto-approve rule %q: %w", rule.Expression, err)
		}
		if matches {
			return rule.Reason, true, nil
		}
	}
	return "", false, nil
}

func evaluate(expression string, summary v1alpha1.PlanSummary) (bool, error) {
	env, err := cel.NewEnv(cel.Variable("plan", cel.MapType(cel.StringType, cel.DynType)))
	if err != nil {
		return false, err
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return false, issues.Err()
	}
	program, err := env.Program(ast, cel.CostLimit(10_000))
	if err != nil {
		return false, err
	}
	value, _, err := program.Eval(map[string]any{"plan": map[string]any{
		"create": int64(summary.Create), "update": int64(summary.Update),
		"replace": int64(summary.Replace), "delete": int64(summary.Delete),
		"empty": summary.Empty(),
	}})
	if err != nil {
		return false, err
	}
	matches, isBool := value.Value().(bool)
	if !isBool {
		return false, fmt.Errorf("it gives %v, not true or false", value)
	}
	return matches, nil
}
