package dev

import (
	"fmt"
	"path/filepath"
	"strings"
)

// welcome tells a newcomer what there is and what to type next.
func welcome(program, dir, url string) string {
	var text strings.Builder
	fmt.Fprintf(&text, `
Towpath is ready. Its API server is %s.
Ctrl-C stops it; everything is kept in %s.

Next, in another terminal:

  %[3]s propose docs/examples/orders.yaml --role developer
  %[3]s show orders --role developer
  %[3]s approve orders test --role approver

People you can be, each with a kubeconfig (namespace %[4]s):

`, url, dir, program, team)
	for _, p := range people() {
		fmt.Fprintf(&text, "  %-11s %s\n", p.name, filepath.Join(dir, "kubeconfig", p.name+".kubeconfig"))
	}
	return text.String()
}
