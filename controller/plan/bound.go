package plan

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Bound returns as much of a plan as fits into maxBytes of JSON, and says what it
// leaves out. That something happens to a resource is worth more than how, and a
// grave step more than a harmless one: properties go before steps, those of
// creates first, and then the last steps.
func Bound(p Plan, maxBytes int) v1alpha1.RunPlan {
	out := v1alpha1.RunPlan{Steps: []v1alpha1.PlanStep{}, Omitted: math.MaxInt32}
	room := maxBytes - size(out)
	for _, step := range p.Steps {
		bare := step
		bare.Changes, bare.Omitted = nil, step.Omitted
		if len(step.Changes) > 0 {
			// The largest number there can be, so that it never grows later.
			bare.Omitted = math.MaxInt32
		}
		need := size(bare) + len(",")
		if need > room {
			break
		}
		room -= need
		out.Steps = append(out.Steps, bare)
	}
	out.Omitted = count32(len(p.Steps) - len(out.Steps))

	var grave, harmless []int
	for i, step := range out.Steps {
		if step.Kind == v1alpha1.StepCreate {
			harmless = append(harmless, i)
		} else {
			grave = append(grave, i)
		}
	}
	room = fill(out.Steps, p.Steps, grave, room)
	fill(out.Steps, p.Steps, harmless, room)
	return out
}

// fill gives the steps at the indexes their changes, as many as there is room
// for, so that no step with many properties crowds out the others: the smallest
// are served first, each from an equal share of what is left.
func fill(out, full []v1alpha1.PlanStep, indexes []int, room int) int {
	sizes := make(map[int]int, len(indexes))
	for _, i := range indexes {
		sizes[i] = size(full[i].Changes)
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	for n, i := range indexes {
		share := room / (len(indexes) - n)
		changes, used := fitting(full[i].Changes, share)
		out[i].Changes = changes
		out[i].Omitted = full[i].Omitted + count32(len(full[i].Changes)-len(changes))
		room -= used
	}
	return room
}

// fitting returns the changes that fit, those that force a replacement first if
// some have to go, and the bytes they take.
func fitting(changes []v1alpha1.PropertyChange, room int) ([]v1alpha1.PropertyChange, int) {
	if len(changes) == 0 {
		return nil, 0
	}
	const key = len(`,"changes":[]`)
	if whole := size(changes) + key; whole <= room {
		return changes, whole
	}
	order := slices.Clone(changes)
	slices.SortStableFunc(order, func(a, b v1alpha1.PropertyChange) int {
		switch {
		case a.Replaces == b.Replaces:
			return 0
		case a.Replaces:
			return -1
		}
		return 1
	})
	var kept []v1alpha1.PropertyChange
	used := key
	for _, change := range order {
		need := size(change) + len(",")
		if used+need > room {
			break
		}
		used += need
		kept = append(kept, change)
	}
	if len(kept) == 0 {
		return nil, 0
	}
	return kept, used
}

// size is the length of a value as JSON. Steps hold nothing that JSON cannot.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return math.MaxInt32
	}
	return len(data)
}

func count32(n int) int32 { return int32(min(n, math.MaxInt32)) }
