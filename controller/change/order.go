package change

import (
	"sort"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// order sorts environments so that each stands after those it comes after; names
// break ties. Environments in a circle come last, in the order of their names:
// each of them waits for another, which the gate then says.
func order(names []string, environments map[string]v1alpha1.Environment) []string {
	rest := append([]string{}, names...)
	sort.Strings(rest)
	wanted := map[string]bool{}
	for _, name := range rest {
		wanted[name] = true
	}
	placed := map[string]bool{}
	var sorted []string
	for len(rest) > 0 {
		var next []string
		for _, name := range rest {
			ready := true
			for _, first := range environments[name].Spec.After {
				ready = ready && (placed[string(first)] || !wanted[string(first)])
			}
			if !ready {
				next = append(next, name)
				continue
			}
			sorted = append(sorted, name)
			placed[name] = true
		}
		if len(next) == len(rest) {
			return append(sorted, rest...)
		}
		rest = next
	}
	return sorted
}
