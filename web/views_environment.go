package web

import (
	"strings"
	"time"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/gate"
)

// approvalRule says in words who must approve.
func approvalRule(environment v1alpha1.Environment) string {
	if environment.Name == "" {
		return ""
	}
	rule := environment.Spec.Approval
	required := max(int(rule.Required), 1)
	sentence := "Needs " + plural(required, "approval", "approvals")
	if required > 1 {
		sentence += " from different people"
	}
	if len(rule.Groups) > 0 {
		groups := make([]string, 0, len(rule.Groups))
		for _, group := range rule.Groups {
			groups = append(groups, safe(group))
		}
		sentence += " of " + strings.Join(groups, " or ")
	}
	sentence += "; never the author's own"
	if rule.ExpiresAfter != nil {
		sentence += "; an approval that is not used holds for " + gate.Span(rule.ExpiresAfter.Duration)
	}
	return sentence + "."
}

// whoDecides says in words how a plan comes to be approved.
func whoDecides(environment v1alpha1.Environment) string {
	rule := approvalRule(environment)
	if len(environment.Spec.AutoApprove) == 0 {
		return rule
	}
	reasons := make([]string, 0, len(environment.Spec.AutoApprove))
	for _, auto := range environment.Spec.AutoApprove {
		reasons = append(reasons, lowerFirst(strings.TrimSuffix(safe(auto.Reason), ".")))
	}
	return "Applies by itself when " + strings.Join(reasons, ", or when ") + ". Otherwise " + lowerFirst(rule)
}

// rulesOf are the environments by name.
func rulesOf(environments []v1alpha1.Environment) map[string]v1alpha1.Environment {
	rules := make(map[string]v1alpha1.Environment, len(environments))
	for _, environment := range environments {
		rules[environment.Name] = environment
	}
	return rules
}

// rulesView is an environment's rules in plain words. mayReview are the teams for
// which the reader may review there.
func rulesView(environment v1alpha1.Environment, mayReview []string) page.RulesView {
	spec := environment.Spec
	view := page.RulesView{
		ID: "environment-" + environment.Name, Name: environment.Name, Title: safe(spec.DisplayName),
		Approval: whoDecides(environment),
		Health:   "A change counts as failed here if what was applied is not healthy within " + gate.Span(healthTimeout(spec.Health)) + ".",
	}
	switch {
	case environment.Name == v1alpha1.DefaultEnvironment:
		view.After = "For Stacks that name no environment. New services do not go here."
	case len(spec.After) == 0:
		view.After = "Changes come here first."
	default:
		view.After = "Applied only after the same revision is applied and healthy in " + enumerate(names(spec.After))
		if spec.Freshness != nil {
			view.After += ", at most " + gate.Span(spec.Freshness.Duration) + " ago"
		}
		view.After += "."
	}
	if len(mayReview) > 0 {
		view.You = "You may approve and reject plans here for " + enumerate(mayReview) + "."
	}
	add := func(name, value string) {
		if value != "" {
			view.Facts = append(view.Facts, page.FactView{Name: name, Value: safe(value)})
		}
	}
	for _, rule := range spec.AutoApprove {
		add("Applies by itself when", rule.Expression)
	}
	add("Service account that applies", spec.StackTemplate.ServiceAccountName)
	add("Service account that previews", spec.StackTemplate.PreviewServiceAccountName)
	add("Pulumi stack", spec.StackTemplate.Stack)
	return view
}

// defaultHealthTimeout is the schema's default.
const defaultHealthTimeout = 10 * time.Minute

func healthTimeout(rule v1alpha1.HealthRule) time.Duration {
	if rule.Timeout == nil {
		return defaultHealthTimeout
	}
	return rule.Timeout.Duration
}

// stages are environments by how many others a change passes before them. The
// default is no stage.
func stages(environments []v1alpha1.Environment) [][]v1alpha1.Environment {
	level := map[string]int{}
	var levels [][]v1alpha1.Environment
	for _, environment := range environments {
		if environment.Name == v1alpha1.DefaultEnvironment {
			continue
		}
		at := 0
		for _, first := range environment.Spec.After {
			// They come in order, so those before are known.
			if before, ok := level[string(first)]; ok {
				at = max(at, before+1)
			}
		}
		level[environment.Name] = at
		for len(levels) <= at {
			levels = append(levels, nil)
		}
		levels[at] = append(levels[at], environment)
	}
	return levels
}

// orderView is the order of environments as a picture; node says what stands in
// each.
func orderView(environments []v1alpha1.Environment, node func(v1alpha1.Environment) components.OrderNodeView) components.OrderView {
	var view components.OrderView
	var words []string
	for _, stage := range stages(environments) {
		var nodes []components.OrderNodeView
		var names []string
		for _, environment := range stage {
			nodes = append(nodes, node(environment))
			names = append(names, safe(environment.Name))
		}
		if len(nodes) == 0 {
			continue
		}
		view.Levels = append(view.Levels, nodes)
		words = append(words, enumerate(names))
	}
	view.Label = "Changes go to " + strings.Join(words, ", then to ") + "."
	return view
}
