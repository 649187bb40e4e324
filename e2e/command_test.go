package e2e

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	towpathdev "github.com/towpath-dev/towpath/e2e/portal"
)

// answer is what a program said and how it ended.
type answer struct {
	out, err string
	code     int
}

// towpath runs the command line as one of the portal's people.
func (p *portal) towpath(t *testing.T, role, stdin string, args ...string) answer {
	t.Helper()
	return execute(t, stdin, p.Towpath(t.Context(), role, args...))
}

// kubectl runs kubectl as one of the portal's people, in the team's namespace.
func (p *portal) kubectl(t *testing.T, role, stdin string, args ...string) answer {
	t.Helper()
	return kubectl(t, p.Kubeconfig(role), stdin, args...)
}

func kubectl(t *testing.T, kubeconfig, stdin string, args ...string) answer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool("kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	return execute(t, stdin, cmd)
}

func execute(t *testing.T, stdin string, cmd *exec.Cmd) answer {
	t.Helper()
	var out, errOut strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %s: %v", cmd.Path, err)
	}
	return answer{out: out.String(), err: errOut.String(), code: cmd.ProcessState.ExitCode()}
}

// works fails the test unless the program ended well.
func (a answer) works(t *testing.T) answer {
	t.Helper()
	if a.code != 0 {
		t.Fatalf("it ended with %d:\n%s%s", a.code, a.out, a.err)
	}
	return a
}

// refused fails the test unless the program ended with 1 and said why.
func (a answer) refused(t *testing.T, why string) {
	t.Helper()
	if a.code != 1 || !strings.Contains(a.err, why) {
		t.Errorf("it ended with %d and said:\n%s%swant 1 and: %s", a.code, a.out, a.err, why)
	}
}

var proposedAs = regexp.MustCompile(`Proposed as (\S+)\.`)

// propose proposes a manifest by the command line and returns the change's name.
func (p *portal) propose(t *testing.T, role, manifest string) string {
	t.Helper()
	said := p.towpath(t, role, manifest, "propose", "-").works(t).out
	name := proposedAs.FindStringSubmatch(said)
	if name == nil {
		t.Fatalf("propose names no change:\n%s", said)
	}
	return name[1]
}

func (p *portal) approve(t *testing.T, role, change, environment string) {
	t.Helper()
	p.towpath(t, role, "", "approve", change, environment).works(t)
}

func (p *portal) show(t *testing.T, change string) string {
	t.Helper()
	return p.towpath(t, "developer", "", "show", change).works(t).out
}

// tool is the path of a program of the toolchain.
func tool(name string) string {
	return filepath.Join(module(), ".toolchain", "bin", name)
}

// module is the folder of the whole module.
func module() string {
	root, err := towpathdev.Root()
	if err != nil {
		panic(err) // the tests run in a folder of the module
	}
	return root
}
