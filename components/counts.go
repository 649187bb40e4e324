package components

import "fmt"

// Empty reports whether nothing changes.
func (v CountsView) Empty() bool {
	return v.Create == 0 && v.Update == 0 && v.Replace == 0 && v.Delete == 0
}

type count struct {
	op Op
	n  int
}

// String is the count in words: 2 created.
func (c count) String() string {
	participles := map[Op]string{Delete: "deleted", Replace: "replaced", Update: "updated", Create: "created"}
	return fmt.Sprintf("%d %s", c.n, participles[c.op])
}

// several reports whether a plan does more than one thing.
func (v CountsView) several() bool { return len(v.list()) > 1 }

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
