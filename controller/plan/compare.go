package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// inputSentences say what it means that an input is not what it was.
var inputSentences = map[string]string{
	"program":     "the Program is not the one that the plan was made from",
	"goldenPaths": "a golden path has other content than when the plan was made",
	"stack":       "the Stack's settings changed after the plan was made",
	"config":      "the Stack's config changed after the plan was made",
	"secrets":     "a secret value changed after the plan was made",
	"cluster":     "the cluster is not the one that the plan was made against",
	"state":       "the stack's state changed after the plan was made: something else ran an operation on it",
	"tools":       "the versions of the engine or its plugins changed after the plan was made",
	"upstream":    "an output of a stack that this one reads changed after the plan was made",
	"plan":        "a new preview does not give the plan that was approved",
}

// CompareInputs names each input of a plan that differs, by name.
func CompareInputs(approved, now map[string]string) []v1alpha1.Difference {
	var out []v1alpha1.Difference
	for _, name := range unionKeys(approved, now) {
		was, had := approved[name]
		is, has := now[name]
		var detail string
		switch {
		case had && has && was == is:
			continue
		case !had:
			detail = "is new: the approved plan was made without it"
		case !has:
			detail = "is gone: the approved plan was made with it"
		case inputSentences[name] != "":
			detail = inputSentences[name]
		default:
			detail = "changed after the plan was made"
		}
		out = append(out, v1alpha1.Difference{What: Sanitize(name), Detail: detail})
	}
	return out
}

// CompareStateResources names the resources of a stack's state that differ, as
// StateResources digested them.
func CompareStateResources(approved, now map[string]string) []v1alpha1.Difference {
	var out []v1alpha1.Difference
	for _, urn := range unionKeys(approved, now) {
		was, had := approved[urn]
		is, has := now[urn]
		var detail string
		switch {
		case had && has && was == is:
			continue
		case !had:
			detail = "was added to the state after the plan was made"
		case !has:
			detail = "was removed from the state after the plan was made"
		default:
			detail = "was changed in the state after the plan was made"
		}
		typ, name := urnParts(urn)
		out = append(out, v1alpha1.Difference{What: Sanitize(strings.TrimSpace(name + " " + shortType(typ))), Detail: detail})
	}
	return limited(out)
}

// CompareSteps says in words how what would happen now differs from what was
// approved. Both must be whole plans, not cut to fit an object's status.
func CompareSteps(approved, now []v1alpha1.PlanStep) []v1alpha1.Difference {
	before, after := stepsByURN(approved), stepsByURN(now)
	keys := slices.Collect(maps.Keys(before))
	keys = slices.AppendSeq(keys, maps.Keys(after))
	slices.SortFunc(keys, func(a, b stepKey) int {
		return cmp.Or(cmp.Compare(a.urn, b.urn), cmp.Compare(a.nth, b.nth))
	})
	var out []v1alpha1.Difference
	for _, key := range slices.Compact(keys) {
		was, had := before[key]
		is, has := after[key]
		switch {
		case !has:
			out = append(out, difference(was, fmt.Sprintf("would no longer be %s, as the approved plan says", participle(was.Kind))))
		case !had:
			out = append(out, difference(is, fmt.Sprintf("would now be %s, the approved plan leaves it as it is", participle(is.Kind))))
		case was.Kind != is.Kind:
			out = append(out, difference(is, fmt.Sprintf("would now be %s, the approved plan %s it", participle(is.Kind), thirdPerson(was.Kind))))
		default:
			for _, detail := range compareChanges(was, is) {
				out = append(out, difference(is, detail))
			}
		}
	}
	return limited(out)
}

// stepKey tells apart the rare two steps of one URN.
type stepKey struct {
	urn string
	nth int
}

func stepsByURN(steps []v1alpha1.PlanStep) map[stepKey]v1alpha1.PlanStep {
	sorted := slices.Clone(steps)
	slices.SortStableFunc(sorted, func(a, b v1alpha1.PlanStep) int {
		return cmp.Or(cmp.Compare(a.URN, b.URN), cmp.Compare(gravity(b.Kind), gravity(a.Kind)))
	})
	out := make(map[stepKey]v1alpha1.PlanStep, len(steps))
	for i, step := range sorted {
		key := stepKey{urn: step.URN}
		if i > 0 && sorted[i-1].URN == step.URN {
			key.nth = 1
		}
		out[key] = step
	}
	return out
}

// compareChanges compares two steps of one kind property by property.
func compareChanges(approved, now v1alpha1.PlanStep) []string {
	was, is := changesByPath(approved), changesByPath(now)
	var out []string
	for _, p := range unionKeys(was, is) {
		a, had := was[p]
		b, has := is[p]
		switch {
		case !had && approved.Omitted > 0, !has && now.Omitted > 0:
			// It may be among those that were left out.
		case !had:
			out = append(out, fmt.Sprintf("%s: would now change too, %s", p, oldToNew(b)))
		case !has:
			out = append(out, fmt.Sprintf("%s: would no longer change, the approved plan says %s", p, oldToNew(a)))
		case raw(a.New) != raw(b.New):
			then, current := briefly(a.New, b.New)
			out = append(out, fmt.Sprintf("%s: approved %s, now %s", p, then, current))
		case raw(a.Old) != raw(b.Old):
			then, current := briefly(a.Old, b.Old)
			out = append(out, fmt.Sprintf("%s: was %s when approved, is %s now", p, then, current))
		case a.Replaces != b.Replaces:
			out = append(out, fmt.Sprintf("%s: whether it forces a replacement changed", p))
		}
	}
	return out
}

func changesByPath(step v1alpha1.PlanStep) map[string]v1alpha1.PropertyChange {
	out := make(map[string]v1alpha1.PropertyChange, len(step.Changes))
	for _, change := range step.Changes {
		out[change.Path] = change
	}
	return out
}

func difference(step v1alpha1.PlanStep, detail string) v1alpha1.Difference {
	return v1alpha1.Difference{What: Sanitize(stepTitle(step)), Detail: Sanitize(detail)}
}

// stepTitle names a resource as its users know it: "shop-dev/web Deployment".
func stepTitle(step v1alpha1.PlanStep) string {
	name := step.Object
	if name == "" {
		name = step.Name
	}
	return name + " " + shortType(step.Type)
}

// shortType is the last part of a type token: Deployment of
// kubernetes:apps/v1:Deployment. A provider is called by its package.
func shortType(typ string) string {
	if provider, ok := strings.CutPrefix(typ, providerPrefix); ok {
		return provider + " provider"
	}
	return typ[strings.LastIndexByte(typ, ':')+1:]
}

func participle(kind v1alpha1.StepKind) string {
	return strings.ToLower(string(kind)) + "d"
}

func thirdPerson(kind v1alpha1.StepKind) string {
	return strings.ToLower(string(kind)) + "s"
}

// maxDifferences is how many differences anybody reads, and an object can hold.
const maxDifferences = 50

func limited(differences []v1alpha1.Difference) []v1alpha1.Difference {
	if len(differences) <= maxDifferences {
		return differences
	}
	more := len(differences) - maxDifferences
	return append(differences[:maxDifferences:maxDifferences], v1alpha1.Difference{
		What:   "others",
		Detail: fmt.Sprintf("%d further differences", more),
	})
}

func unionKeys[V any](a, b map[string]V) []string {
	keys := slices.Collect(maps.Keys(a))
	keys = slices.AppendSeq(keys, maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
