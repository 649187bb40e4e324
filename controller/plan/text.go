package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Text is a plan for the command line: the gravest steps first, grouped by the
// component instance they belong to. Names and values come from users, so they
// are made safe for terminals.
func Text(p v1alpha1.RunPlan, summary v1alpha1.PlanSummary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", Sanitize(cmp.Or(summary.Text, summaryText(summary))), unchanged(summary))

	steps := slices.Clone(p.Steps)
	slices.SortStableFunc(steps, func(a, b v1alpha1.PlanStep) int {
		return cmp.Or(cmp.Compare(gravity(a.Kind), gravity(b.Kind)), cmp.Compare(a.Parent, b.Parent))
	})
	grouped := slices.ContainsFunc(steps, func(s v1alpha1.PlanStep) bool { return s.Parent != "" })
	for i, step := range steps {
		if i == 0 || step.Kind != steps[i-1].Kind || grouped && step.Parent != steps[i-1].Parent {
			b.WriteString("\n")
			if grouped {
				fmt.Fprintf(&b, "%s\n", groupTitle(step.Parent))
			}
		}
		writeStep(&b, step)
	}
	if p.Omitted > 0 {
		fmt.Fprintf(&b, "\n… and %d more %s, not shown here.\n", p.Omitted, plural(p.Omitted, "step", "steps"))
	}
	return b.String()
}

func unchanged(s v1alpha1.PlanSummary) string {
	if s.Same == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d unchanged)", s.Same)
}

func groupTitle(parent string) string {
	if parent == "" {
		return "outside components:"
	}
	return Sanitize(parent) + ":"
}

func writeStep(b *strings.Builder, step v1alpha1.PlanStep) {
	sign := "?"
	switch step.Kind {
	case v1alpha1.StepDelete:
		sign = "-"
	case v1alpha1.StepReplace:
		sign = "±"
	case v1alpha1.StepUpdate:
		sign = "~"
	case v1alpha1.StepCreate:
		sign = "+"
	}
	fmt.Fprintf(b, "  %s %-7s %s\n", sign, Sanitize(strings.ToLower(string(step.Kind))), Sanitize(stepTitle(step)))
	for _, change := range step.Changes {
		fmt.Fprintf(b, "      %s: %s", Sanitize(change.Path), Sanitize(changeText(step.Kind, change)))
		if change.Replaces {
			b.WriteString("  (forces the replacement)")
		}
		b.WriteString("\n")
	}
	if step.Omitted > 0 {
		fmt.Fprintf(b, "      … and %d more %s, not shown here\n", step.Omitted, plural(step.Omitted, "property", "properties"))
	}
}

// changeText is a change in words; in a create everything is new, so only the
// value is said.
func changeText(kind v1alpha1.StepKind, c v1alpha1.PropertyChange) string {
	if kind == v1alpha1.StepCreate && c.Old == nil && c.New != nil {
		return string(c.New.Raw)
	}
	switch {
	case c.Old != nil && c.New != nil:
		return string(c.Old.Raw) + " → " + string(c.New.Raw)
	case c.New != nil:
		return "added, " + string(c.New.Raw)
	case c.Old != nil:
		return "removed, was " + string(c.Old.Raw)
	}
	return "changes"
}

// oldToNew is a change in a few words, for a sentence.
func oldToNew(c v1alpha1.PropertyChange) string {
	before, after := briefly(c.Old, c.New)
	switch {
	case c.Old != nil && c.New != nil:
		return fmt.Sprintf("from %s to %s", before, after)
	case c.New != nil:
		return fmt.Sprintf("to %s", after)
	case c.Old != nil:
		return fmt.Sprintf("removing %s", before)
	}
	return "to a value that is not shown"
}

// briefly is two values for a sentence, long ones cut to where they differ.
func briefly(before, after *apiextensionsv1.JSON) (string, string) {
	return aroundChange(raw(before), raw(after), 120)
}

func raw(v *apiextensionsv1.JSON) string {
	if v == nil {
		return "absent"
	}
	return string(v.Raw)
}

func plural(n int32, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
