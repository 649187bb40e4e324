package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// inOrder are the environments in the order in which a change reaches them.
var inOrder = []string{"dev", "test", "prod"}

// The example that the README tells newcomers to propose goes all the way, then
// changes, then does not change.
func TestJourney(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	example, err := os.ReadFile(filepath.Join(module(), "docs", "examples", "orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// The database's password is made an output, to see what becomes of it.
	const lastOutput = "      databaseHost: ${orders-db.host}\n"
	first := replaced(t, string(example), lastOutput, lastOutput+"      password: ${dbPassword}\n")

	name := p.propose(t, "developer", first)
	p.awaitPhases(t, name, map[string]v1alpha1.StackPhase{"test": v1alpha1.StackInReview, "prod": v1alpha1.StackInReview})
	p.approve(t, "approver", name, "test")
	p.approve(t, "approver2", name, "prod")
	cr := p.awaitEnd(t, name, v1alpha1.ChangeApplied)
	want := map[string]string{"dev": "Nothing is deleted or replaced", "test": "Approved by approver", "prod": "Approved by approver2"}
	if diff := cmp.Diff(want, reasons(cr)); diff != "" {
		t.Error("why each environment was approved:\n" + diff)
	}
	t.Run("everything runs, one environment after the other", func(t *testing.T) { p.checkRunning(t) })
	t.Run("outputs are in the Stacks, secret ones masked", func(t *testing.T) { p.checkOutputs(t) })
	t.Run("the developer and the approver may see what runs", func(t *testing.T) {
		for _, role := range []string{"developer", "approver", "platform"} {
			said := p.kubectl(t, role, "", "get", "deployments", "-n", "shop-prod", "-o", "name").works(t).out
			if diff := cmp.Diff("deployment.apps/orders-web\n", said); diff != "" {
				t.Errorf("as %s:\n%s", role, diff)
			}
		}
	})

	second := replaced(t, first, "ghcr.io/acme/orders:1.0.0", "ghcr.io/acme/orders:1.1.0")
	name = p.propose(t, "developer", second)
	cr = p.awaitPhases(t, name, map[string]v1alpha1.StackPhase{"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview, "prod": v1alpha1.StackInReview})
	t.Run("one edited input is an update of one property", func(t *testing.T) { p.checkOneProperty(t, cr) })
	p.approve(t, "approver", name, "prod")
	p.approve(t, "approver", name, "test")
	p.awaitEnd(t, name, v1alpha1.ChangeApplied)

	name = p.propose(t, "developer2", second)
	cr = p.awaitEnd(t, name, v1alpha1.ChangeApplied)
	for _, sc := range cr.Status.Stacks {
		if !sc.Plan.Summary.Empty() || !sc.Approval.Automatic {
			t.Errorf("the unchanged Program in %s: plan %s, approval %+v; want nothing to do, approved by itself", sc.Environment, sc.Plan.Summary.Text, sc.Approval)
		}
	}
	t.Run("no secret is where it should not be", func(t *testing.T) { p.checkSecrets(t) })
	t.Run("an edit by kubectl is brought to review", func(t *testing.T) { p.editByKubectl(t) })
}

func reasons(cr v1alpha1.ChangeRequest) map[string]string {
	found := map[string]string{}
	for _, sc := range cr.Status.Stacks {
		if sc.Approval != nil {
			found[sc.Environment] = sc.Approval.Reason
		}
	}
	return found
}

func (p *portal) checkRunning(t *testing.T) {
	var before time.Time // when the last object of the environment before was made
	for _, environment := range inOrder {
		namespace := client.InNamespace("shop-" + environment)
		made := map[string]time.Time{}
		var deployments appsv1.DeploymentList
		var sets appsv1.StatefulSetList
		var services corev1.ServiceList
		var secrets corev1.SecretList
		var claims corev1.PersistentVolumeClaimList
		for _, list := range []client.ObjectList{&deployments, &sets, &services, &secrets, &claims} {
			if err := p.admin.List(t.Context(), list, namespace, client.HasLabels{"app.kubernetes.io/name"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range deployments.Items {
			if d.Name != "orders-web" {
				continue
			}
			made["Deployment "+d.Name] = d.CreationTimestamp.Time
			want := map[string]int32{"dev": 1, "test": 1, "prod": 3}[environment]
			if d.Status.ReadyReplicas != want || *d.Spec.Replicas != want {
				t.Errorf("%s: %d of %d replicas of the Deployment are ready; want %d", environment, d.Status.ReadyReplicas, *d.Spec.Replicas, want)
			}
		}
		for _, s := range sets.Items {
			if s.Name == "orders-db" {
				made["StatefulSet "+s.Name] = s.CreationTimestamp.Time
				if s.Status.ReadyReplicas != 1 {
					t.Errorf("%s: the StatefulSet has %d ready replicas; want 1", environment, s.Status.ReadyReplicas)
				}
			}
		}
		for _, s := range services.Items {
			made["Service "+s.Name] = s.CreationTimestamp.Time
		}
		for _, s := range secrets.Items {
			made["Secret "+s.Name] = s.CreationTimestamp.Time
		}
		for _, c := range claims.Items {
			made["PersistentVolumeClaim "+c.Name] = c.CreationTimestamp.Time
		}
		for _, want := range []string{
			"Deployment orders-web", "StatefulSet orders-db", "Service orders-web", "Service orders-db",
			"Secret orders-db-credentials", "PersistentVolumeClaim orders-db-data",
		} {
			at, ok := made[want]
			switch {
			case !ok:
				t.Errorf("%s: there is no %s", environment, want)
			case at.Before(before):
				t.Errorf("%s: %s was made at %s, before everything before it was there (%s)", environment, want, at, before)
			}
		}
		for _, at := range made {
			if at.After(before) {
				before = at
			}
		}
	}
}

func (p *portal) checkOutputs(t *testing.T) {
	for _, environment := range inOrder {
		var stack pulumiv1.Stack
		p.await(t, "outputs of orders-"+environment, func(ctx context.Context) (bool, string, error) {
			err := p.admin.Get(ctx, client.ObjectKey{Namespace: team, Name: "orders-" + environment}, &stack)
			return len(stack.Status.Outputs) > 0, fmt.Sprintf("%+v", stack.Status), err
		})
		got := map[string]any{}
		for name, raw := range stack.Status.Outputs {
			var value any
			if err := json.Unmarshal(raw.Raw, &value); err != nil {
				t.Fatal(err)
			}
			got[name] = value
		}
		want := map[string]any{"url": "http://orders-web", "databaseHost": "orders-db", "password": "[secret]"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outputs of orders-%s:\n%s", environment, diff)
		}
	}
}

func (p *portal) checkOneProperty(t *testing.T, cr v1alpha1.ChangeRequest) {
	for _, sc := range cr.Status.Stacks {
		run := get(t, p, team, sc.Preview, &v1alpha1.Run{})
		var got []string
		for _, step := range run.Status.Plan.Steps {
			for _, change := range step.Changes {
				got = append(got, fmt.Sprintf("%s %s %s: %s → %s", step.Kind, step.Name, change.Path, change.Old.Raw, change.New.Raw))
			}
		}
		want := []string{`Update orders-web-deployment spec.template.spec.containers[0].image: "ghcr.io/acme/orders:1.0.0" → "ghcr.io/acme/orders:1.1.0"`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what the plan for %s changes:\n%s", sc.Environment, diff)
		}
		if diff := cmp.Diff("1 to update", sc.Plan.Summary.Text); diff != "" {
			t.Errorf("summary of the plan for %s:\n%s", sc.Environment, diff)
		}
	}
}

// editByKubectl is the GitOps door: a Program that somebody applies directly.
func (p *portal) editByKubectl(t *testing.T) {
	program := p.kubectl(t, "developer2", "", "get", "program", "orders", "-o", "yaml").works(t).out
	p.kubectl(t, "developer2", replaced(t, program, "ghcr.io/acme/orders:1.1.0", "ghcr.io/acme/orders:1.2.0"), "apply", "-f", "-").works(t)

	var opened v1alpha1.ChangeRequest
	p.await(t, "a change for the edit", func(ctx context.Context) (bool, string, error) {
		var all v1alpha1.ChangeRequestList
		err := p.admin.List(ctx, &all, client.InNamespace(team))
		at := slices.IndexFunc(all.Items, func(cr v1alpha1.ChangeRequest) bool {
			return cr.Spec.Service == "orders" && strings.HasPrefix(cr.Name, "orders-edit-")
		})
		if at >= 0 {
			opened = all.Items[at]
		}
		return at >= 0, "", err
	})
	if diff := cmp.Diff("developer2", opened.Spec.Author.Username); diff != "" {
		t.Errorf("author of the change:\n%s", diff)
	}
	opened = p.awaitPhases(t, opened.Name, map[string]v1alpha1.StackPhase{
		"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview, "prod": v1alpha1.StackInReview,
	})
	p.checkImage(t, map[string]string{"dev": "1.2.0", "test": "1.1.0", "prod": "1.1.0"})
	p.approve(t, "approver", opened.Name, "test")
	p.approve(t, "approver", opened.Name, "prod")
	p.awaitEnd(t, opened.Name, v1alpha1.ChangeApplied)
	p.checkImage(t, map[string]string{"dev": "1.2.0", "test": "1.2.0", "prod": "1.2.0"})
}

func (p *portal) checkImage(t *testing.T, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for environment := range want {
		image := get(t, p, "shop-"+environment, "orders-web", &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image
		got[environment] = image[strings.LastIndexByte(image, ':')+1:]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("version that runs:\n%s", diff)
	}
}
