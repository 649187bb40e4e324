package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Somebody runs Pulumi on the stack by hand after the plan was approved and
// before its turn comes: nothing is applied until somebody has seen the new plan.
func TestStateMovedByHand(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	name := p.propose(t, "developer", proposal("moved", "blue", inOrder...))
	cr := p.awaitPhases(t, name, map[string]v1alpha1.StackPhase{"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview, "prod": v1alpha1.StackInReview})
	old := in(cr, "prod")
	p.approve(t, "approver", name, "prod")
	p.awaitPhases(t, name, map[string]v1alpha1.StackPhase{"prod": v1alpha1.StackApproved})

	program := settings("moved", "red")
	program["resources"].(map[string]any)["byHand"] = configMap("moved-by-hand", "red")
	p.pulumiUp(t, get(t, p, team, old.Preview, &v1alpha1.Run{}), program)
	p.approve(t, "approver", name, "test")

	cr = p.awaitChange(t, name, "a new plan for prod that waits for review", func(cr v1alpha1.ChangeRequest) bool {
		prod := in(cr, "prod")
		return prod.Phase == v1alpha1.StackInReview && prod.Plan.Digest != old.Plan.Digest
	})
	prod := in(cr, "prod")
	if diff := cmp.Diff("Nothing was applied: the world is not what it was when the plan was made. A new plan is being made.", prod.Message); diff != "" {
		t.Error(diff)
	}
	var differences []string
	for _, difference := range prod.Differences {
		differences = append(differences, difference.What+": "+difference.Detail)
	}
	for _, want := range []string{
		"state: the stack's state changed after the plan was made: something else ran an operation on it",
		"shop-prod/moved ConfigMap: would now be updated, the approved plan creates it",
		"shop-prod/moved-by-hand ConfigMap: would now be deleted, the approved plan leaves it as it is",
	} {
		if !strings.Contains(strings.Join(differences, "\n")+"\n", want+"\n") {
			t.Errorf("the status does not say %q; it says:\n%s", want, strings.Join(differences, "\n"))
		}
	}
	if shown := p.show(t, name); !strings.Contains(shown, "Differs: state: ") {
		t.Errorf("show does not say what differs:\n%s", shown)
	}
	if got := get(t, p, "shop-prod", "moved", &corev1.ConfigMap{}).Data["colour"]; got != "red" {
		t.Errorf("prod is %s, which is not what was left there by hand", got)
	}
	if summary := prod.Plan.Summary; summary.Create != 0 || summary.Delete != 1 {
		t.Errorf("the new plan is %s; want nothing created and one deleted", summary.Text)
	}

	t.Run("the old approval no longer counts", func(t *testing.T) {
		p.checkReview(t, p.Kubeconfig("approver2"), nil, review(name, "prod", old.Plan.Digest, "Approve", nil), "approver2", false,
			"It is of an outdated plan: the plan has changed since. Look at the new one.")
		p.towpath(t, "approver2", "", "approve", name, "prod", "--plan", old.Plan.Digest).refused(t, "look at it again.")
		if shown := p.show(t, name); !strings.Contains(shown, "Approve by approver (does not count: It is of an outdated plan") {
			t.Errorf("show does not say that the first approval is void:\n%s", shown)
		}
	})
	t.Run("the new plan is applied once it is signed", func(t *testing.T) {
		p.approve(t, "approver2", name, "prod")
		p.awaitEnd(t, name, v1alpha1.ChangeApplied)
		if got := get(t, p, "shop-prod", "moved", &corev1.ConfigMap{}).Data["colour"]; got != "blue" {
			t.Errorf("prod is %s; want blue", got)
		}
		err := p.admin.Get(t.Context(), client.ObjectKey{Namespace: "shop-prod", Name: "moved-by-hand"}, &corev1.ConfigMap{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("what was made by hand: %v; want it deleted, as the new plan says", err)
		}
	})
}

// pulumiUp is somebody with the rights to it who runs `pulumi up` beside the
// portal, on the Pulumi stack and the cluster of one of its runs.
func (p *portal) pulumiUp(t *testing.T, run *v1alpha1.Run, program map[string]any) {
	t.Helper()
	dir := t.TempDir()
	project := map[string]any{"name": run.Spec.Service, "runtime": "yaml"}
	for key, value := range program {
		project[key] = value
	}
	text, err := yaml.Marshal(project)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := p.AdminKubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(module(), ".toolchain", "pulumi-home", "plugins"), filepath.Join(home, "plugins")); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + dir, "PULUMI_HOME=" + home, "PATH=" + filepath.Dir(tool("pulumi")), "KUBECONFIG=" + kubeconfig,
		"PULUMI_BACKEND_URL=" + run.Spec.Stack.Backend, "PULUMI_SKIP_UPDATE_CHECK=true",
		"PULUMI_CONFIG_PASSPHRASE=" + string(get(t, p, team, "pulumi-passphrase", &corev1.Secret{}).Data["passphrase"]),
	}
	for _, args := range [][]string{
		{"config", "set", "kubernetes:namespace", "shop-" + run.Spec.Environment},
		{"up", "--yes", "--skip-preview"},
	} {
		pulumi := exec.CommandContext(t.Context(), tool("pulumi"), append(args, "--stack", run.Spec.Stack.Stack, "--non-interactive", "--cwd", dir)...)
		pulumi.Env = env
		execute(t, "", pulumi).works(t)
	}
}
