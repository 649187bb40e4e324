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

// part is what a plan does to one golden path instance, or to what belongs to none.
type part struct {
	instance string
	// title is what the part is called; empty when it is all that the plan has and has
	// no name of its own.
	title string
	// compared are the steps that no reader may miss, the gravest first; created are
	// those that make something new, folds whether they are better folded.
	compared, created []StepView
	folds             bool
	gravity           int
}

// The most creates that a reader can take in unfolded: alone, and beside steps that
// have to be read first.
const (
	seenAtOnce = 12
	seenBeside = 4
)

// parts are what a plan does, the part with the gravest step first.
func (v PlanView) parts() []part {
	var parts []part
	seen := seenAtOnce
	for _, s := range v.Steps {
		i := slices.IndexFunc(parts, func(p part) bool { return p.instance == s.Instance })
		if i < 0 {
			parts = append(parts, part{instance: s.Instance, title: s.Instance, gravity: s.Op.gravity()})
			i = len(parts) - 1
		}
		p := &parts[i]
		p.gravity = min(p.gravity, s.Op.gravity())
		if s.Op == Create {
			p.created = append(p.created, s)
		} else {
			p.compared = append(p.compared, s)
			seen = seenBeside
		}
	}
	for i := range parts {
		p := &parts[i]
		p.folds = len(p.created) > seen
		if p.instance == "" && len(parts) > 1 {
			p.title = "Other resources"
		}
		slices.SortStableFunc(p.compared, func(a, b StepView) int { return a.Op.gravity() - b.Op.gravity() })
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.gravity - b.gravity })
	return parts
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

func quantity(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
