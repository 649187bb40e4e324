package dev

import (
	"fmt"
	"path/filepath"
	"strings"
)

// DefaultDir is the folder of all state that the command line looks in by itself.
const DefaultDir = ".towpath"

// welcome tells a newcomer what there is and what to type next.
func welcome(program, dir, portal, apiServer string) string {
	where := ""
	if dir != DefaultDir {
		where = " --dir " + dir
	}
	var text strings.Builder
	fmt.Fprintf(&text, `
Towpath is ready. Open it in a browser:

  %[1]s

Sign in as developer and compose a service; sign in as approver, in another
browser or a private window, to approve it. Or in another terminal:

  %[4]s propose docs/examples/orders.yaml --role developer%[6]s
  %[4]s show orders --role developer%[6]s
  %[4]s approve orders test --role approver%[6]s

Ctrl-C stops it; everything is kept in %[3]s. Its API server is %[2]s.
People you can be, each with a kubeconfig (namespace %[5]s):

`, portal, apiServer, dir, program, team, where)
	for _, p := range people() {
		fmt.Fprintf(&text, "  %-11s %s\n", p.name, filepath.Join(dir, "kubeconfig", p.name+".kubeconfig"))
	}
	return text.String()
}
