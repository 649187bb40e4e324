package components

import (
	"fmt"
	"slices"
)

// Sign is the operation in one character.
func (o Op) Sign() string {
	switch o {
	case Create:
		return "+"
	case Update:
		return "~"
	case Replace:
		return "±"
	case Delete:
		return "−"
	}
	return "?"
}

// gravity orders operations by what they can cost.
func (o Op) gravity() int {
	return slices.Index([]Op{Delete, Replace, Update, Create}, o)
}

// gravest is the operation that a reader must know of first; none if nothing
// changes.
func (v PlanView) gravest() string {
	counts := v.Counts.list()
	if len(counts) == 0 {
		return "none"
	}
	return string(counts[0].op)
}

// unfolded are the steps that no reader may miss, the gravest first.
func (v PlanView) unfolded() []StepView {
	steps := slices.DeleteFunc(slices.Clone(v.Steps), func(s StepView) bool { return s.Op == Create })
	slices.SortStableFunc(steps, func(a, b StepView) int { return a.Op.gravity() - b.Op.gravity() })
	return steps
}

type group struct {
	instance string
	steps    []StepView
}

// creates are what is new, by the instance that it belongs to, in the order of
// first appearance.
func (v PlanView) creates() []group {
	var groups []group
	for _, s := range v.Steps {
		if s.Op != Create {
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.instance == s.Instance })
		if i < 0 {
			groups = append(groups, group{instance: s.Instance})
			i = len(groups) - 1
		}
		groups[i].steps = append(groups[i].steps, s)
	}
	return groups
}

func (v PlanView) countCreates() int {
	n := 0
	for _, s := range v.Steps {
		if s.Op == Create {
			n++
		}
	}
	return n
}

// around splits a text into what it shares with the other one before and after,
// and what differs. Short texts are not split: they are seen at once.
func around(v, other ValueView) (before, differs, after string) {
	const short = 24
	if other.State != Known || len(v.Text) <= short || len(other.Text) <= short {
		return v.Text, "", ""
	}
	a, b := []rune(v.Text), []rune(other.Text)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if start+end < len(a)/3 {
		return v.Text, "", ""
	}
	return string(a[:start]), string(a[start : len(a)-end]), string(a[len(a)-end:])
}

// seenAtOnce is how many creates a reader can take in unfolded.
const seenAtOnce = 12

// createsOnly reports whether creates are all that there is to read, and few.
func (v PlanView) createsOnly() bool {
	return len(v.unfolded()) == 0 && len(v.Steps) <= seenAtOnce
}

func quantity(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
