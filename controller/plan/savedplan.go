package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// savedPlan is the part of apitype.DeploymentPlanV1 that says what is planned.
type savedPlan struct {
	Resources map[string]savedResource `json:"resourcePlans"`
}

// savedResource leaves out the seed, which is random, and keeps the outputs only
// to find in them what the dry run made up.
type savedResource struct {
	Goal    map[string]any `json:"goal"`
	Steps   []string       `json:"steps"`
	Outputs map[string]any `json:"state"`
}

// sets are the lists in a goal whose order differs from run to run.
var sets = []string{
	"additionalSecretOutputs", "aliases", "dependencies", "ignoreChanges", "replaceOnChanges", "replaceWith", "structuredAliases",
}

// SavedPlanDigest is sha256:<hex> over a plan file (pulumi preview --save-plan)
// in canonical form. Unlike the effect digest it sees dependencies and, through
// the key, whether secrets changed.
func SavedPlanDigest(planFile, key []byte, decrypt Decrypt) (string, error) {
	var saved savedPlan
	if err := decodeJSON(planFile, &saved); err != nil {
		return "", fmt.Errorf("read plan file: %w", err)
	}
	if saved.Resources == nil {
		return "", errors.New("read plan file: it has no resource plans")
	}
	s, err := newSealer(key, decrypt, saved.madeUp().canonical())
	if err != nil {
		return "", fmt.Errorf("digest plan file: %w", err)
	}
	out := make(map[string]any, len(saved.Resources))
	for urn, r := range saved.Resources {
		goal, err := canonicalGoal(r.Goal, s)
		if err != nil {
			return "", fmt.Errorf("digest the plan of %q: %w", urn, err)
		}
		out[urn] = map[string]any{"goal": goal, "steps": r.Steps}
	}
	return digestOf(out), nil
}

// madeUp finds the texts that only this plan file knows.
func (p savedPlan) madeUp() volatile {
	t := volatile{}
	for urn, r := range p.Resources {
		if !slices.ContainsFunc(r.Steps, creates) {
			continue
		}
		inputs := map[string]any{}
		for _, part := range []string{"adds", "updates"} {
			diff, _ := lookup(r.Goal, path{"inputDiff", part}).v.(map[string]any)
			t.autonamed(urn, diff)
			for name, v := range diff {
				inputs[name] = v
			}
		}
		t.dryRun(urn, inputs, nil, r.Outputs)
	}
	return t
}

func canonicalGoal(goal map[string]any, s *sealer) (any, error) {
	sealed, err := s.seal(goal)
	if err != nil {
		return nil, err
	}
	out, _ := sealed.(map[string]any)
	for _, name := range sets {
		sortSet(out[name])
	}
	for _, part := range []string{"inputDiff", "outputDiff"} {
		if diff, ok := out[part].(map[string]any); ok {
			sortSet(diff["deletes"])
		}
	}
	if dependencies, ok := out["propertyDependencies"].(map[string]any); ok {
		for name, urns := range dependencies {
			list, _ := urns.([]any)
			if len(list) == 0 {
				// The engine writes "none" now as null, now as an empty list.
				delete(dependencies, name)
				continue
			}
			sortSet(list)
		}
	}
	return out, nil
}

// sortSet sorts a list in place, by its items as JSON.
func sortSet(v any) {
	items, _ := v.([]any)
	slices.SortFunc(items, func(a, b any) int { return strings.Compare(string(encode(a)), string(encode(b))) })
}
