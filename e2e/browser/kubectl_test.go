package browser

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// apply creates an object by kubectl, which is a door for texts that no form takes.
func apply(t *testing.T, p *portal.Portal, person string, object any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	create := kubectl(t, p.Kubeconfig(person), "create", "-f", "-")
	create.Stdin = strings.NewReader(string(text))
	if said, err := create.CombinedOutput(); err != nil {
		t.Fatalf("kubectl create: %v\n%s", err, said)
	}
}

func kubectl(t *testing.T, kubeconfig string, args ...string) *exec.Cmd {
	t.Helper()
	root, err := portal.Root()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(root, ".toolchain", "bin", "kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
	command.Env = []string{"HOME=" + t.TempDir()}
	return command
}
