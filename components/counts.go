package components

import (
	"fmt"
	"strings"
)

// Empty reports whether nothing changes.
func (v CountsView) Empty() bool {
	return v.Create == 0 && v.Update == 0 && v.Replace == 0 && v.Delete == 0
}

// Words are the counts as a phrase: 1 to delete, 2 to create.
func (v CountsView) Words() string {
	if v.Empty() {
		return "nothing changes"
	}
	var parts []string
	for _, c := range v.list() {
		parts = append(parts, fmt.Sprintf("%d to %s", c.n, c.op))
	}
	return strings.Join(parts, ", ")
}

type count struct {
	op Op
	n  int
}

// list is what there is, the gravest first.
func (v CountsView) list() []count {
	var counts []count
	for _, c := range []count{{Delete, v.Delete}, {Replace, v.Replace}, {Update, v.Update}, {Create, v.Create}} {
		if c.n > 0 {
			counts = append(counts, c)
		}
	}
	return counts
}
