package web_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
	"github.com/towpath-dev/towpath/web/kube"
)

// team is a namespace with a service in it.
type team struct {
	namespace string
	changes   *atomic.Int64
}

const digest = "sha256:3f9a71c03f9a71c03f9a71c03f9a71c03f9a71c03f9a71c03f9a71c03f9a71c0"

var furnished sync.Once

// newTeam makes a team: developer, approver, viewer and platform have the roles of
// their names there; stranger is a developer of another team.
func newTeam(t *testing.T) team {
	t.Helper()
	furnished.Do(func() { furnish(t) })
	one := team{namespace: cluster.Team(t), changes: &atomic.Int64{}}
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: one.namespace + "-other"}}
	create(t, cluster.Admin(t), other)
	bind(t, other.Name, "developer", "stranger")
	bind(t, one.namespace, "viewer", "viewer")
	bind(t, one.namespace, "viewer", "platform")
	return one
}

func bind(t *testing.T, namespace, role, group string) {
	t.Helper()
	create(t, cluster.Admin(t), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role + "-" + group},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "towpath-" + role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
	})
}

func create(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// furnish gives the cluster environments and golden paths.
func furnish(t *testing.T) {
	t.Helper()
	admin := cluster.Admin(t)
	for i, name := range []string{"dev", "test", "prod"} {
		environment := &v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: name}}
		environment.Spec.Approval.Required = 1
		if i > 0 {
			environment.Spec.After = []v1alpha1.EnvironmentName{[]v1alpha1.EnvironmentName{"dev", "test"}[i-1]}
		}
		create(t, admin, environment)
	}
	versions, err := goldenpaths.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		create(t, admin, &version.GoldenPath)
		create(t, admin, &version.Version)
	}
	create(t, admin, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "platform"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "towpath-platform"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "platform"}},
	})
}

func text(value string) apiextensionsv1.JSON {
	return apiextensionsv1.JSON{Raw: []byte(`"` + value + `"`)}
}

// orders is the Program of the service.
func orders() pulumiv1.ProgramSpec {
	return pulumiv1.ProgramSpec{
		Packages: map[string]string{"web-service": "web-service@1.0.0"},
		Resources: map[string]pulumiv1.Resource{"orders-web": {
			Type: "web-service:index:WebService", Properties: map[string]apiextensionsv1.JSON{"image": text("ghcr.io/acme/orders:1.0.0")},
		}},
		Outputs: map[string]apiextensionsv1.JSON{"url": text("${orders-web.url}")},
	}
}

// service creates the service orders with a Stack in dev.
func (one team) service(t *testing.T) *pulumiv1.Stack {
	t.Helper()
	controller := cluster.Controller(t)
	create(t, controller, &pulumiv1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: one.namespace, Name: "orders"}, Program: orders()})
	stack := &pulumiv1.Stack{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: one.namespace, Name: "orders-dev",
			Labels: map[string]string{v1alpha1.EnvironmentLabel: "dev", v1alpha1.ServiceLabel: "orders"},
		},
		Spec: pulumiv1.StackSpec{Stack: "organization/orders/dev", ProgramRef: &pulumiv1.ProgramReference{Name: "orders"}},
	}
	create(t, controller, stack)
	return stack
}

// change is a change by an author whose plan for test waits for review, as the
// portal's cache has it too.
func (one team) change(t *testing.T, p *portal, author string, groups ...string) *v1alpha1.ChangeRequest {
	t.Helper()
	name := fmt.Sprintf("orders-%d", one.changes.Add(1))
	cr := &v1alpha1.ChangeRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: one.namespace, Name: name},
		Spec: v1alpha1.ChangeRequestSpec{
			Service: "orders", Description: "Bigger database\nThe import fills it.", Program: orders(),
			Environments: []v1alpha1.EnvironmentProposal{{Name: "test"}},
		},
	}
	create(t, cluster.As(t, author, groups...), cr)
	controller := cluster.Controller(t)
	preview := one.run(t, name+"-preview", cr.Name)
	cr.Status = v1alpha1.ChangeRequestStatus{
		Phase: v1alpha1.ChangeInReview, Message: "test: waits for review.",
		Stacks: []v1alpha1.StackChange{{
			Environment: "test", Stack: "orders-test", Phase: v1alpha1.StackInReview, Preview: preview.Name,
			Plan:    &v1alpha1.PlanReference{Digest: digest, EffectDigest: digest, Summary: v1alpha1.PlanSummary{Update: 1, Text: "1 to update"}},
			Waiting: &v1alpha1.Waiting{Kind: v1alpha1.WaitReview, Message: "The plan waits for an approval.", Who: "whoever may review test", Since: metav1.Now()},
		}},
	}
	if err := controller.Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	p.await(t, cr)
	return cr
}

// run is a preview that has made a plan.
func (one team) run(t *testing.T, name, change string) *v1alpha1.Run {
	t.Helper()
	controller := cluster.Controller(t)
	run := &v1alpha1.Run{
		ObjectMeta: metav1.ObjectMeta{Namespace: one.namespace, Name: name},
		Spec: v1alpha1.RunSpec{
			Operation: v1alpha1.Preview, ChangeRequest: change, Environment: "test", Service: "orders", StackName: "orders-test",
			Snapshot: "orders-0123456789ab", ServiceAccountName: "preview-test", Stack: pulumiv1.StackSpec{Stack: "organization/orders/test"},
		},
	}
	create(t, controller, run)
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	oldSize, newSize := text("10Gi"), text("50Gi")
	run.Status = v1alpha1.RunStatus{
		Phase: v1alpha1.RunSucceeded, Message: "1 to update", StartedAt: &now, FinishedAt: &now,
		Plan: &v1alpha1.RunPlan{Steps: []v1alpha1.PlanStep{{
			Kind: v1alpha1.StepUpdate, URN: "urn:x", Type: "kubernetes:core/v1:PersistentVolumeClaim", Name: "orders-db-data",
			Changes: []v1alpha1.PropertyChange{{Path: "spec.resources.requests.storage", Old: &oldSize, New: &newSize}},
		}}},
		Log: &v1alpha1.RunLog{Lines: []v1alpha1.LogLine{{Time: now, Severity: "info", Text: "previewing"}}},
	}
	if err := controller.Status().Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

// await waits until the portal's cache has caught up with a change.
func (p *portal) await(t *testing.T, cr *v1alpha1.ChangeRequest) {
	t.Helper()
	admin := kube.User{Username: "admin", Groups: []string{"developer"}}
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		changes, err := p.cluster.Changes(ctx, admin)
		for _, known := range changes {
			if known.UID == cr.UID && known.ResourceVersion == cr.ResourceVersion {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		t.Fatalf("the cache does not catch up: %v", err)
	}
}

// reviewsOf are the reviews of a change as they are stored.
func reviewsOf(t *testing.T, cr *v1alpha1.ChangeRequest) []v1alpha1.Review {
	t.Helper()
	var list v1alpha1.ReviewList
	if err := cluster.Admin(t).List(t.Context(), &list, client.InNamespace(cr.Namespace)); err != nil {
		t.Fatal(err)
	}
	var found []v1alpha1.Review
	for _, review := range list.Items {
		if review.Spec.ChangeRequest == cr.Name {
			found = append(found, review)
		}
	}
	return found
}

func contains(t *testing.T, where, what string) {
	t.Helper()
	if !strings.Contains(where, what) {
		t.Errorf("there is no %q in:\n%s", what, where)
	}
}

func key(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// stored is the Program of the service as it is stored.
func stored(t *testing.T, one team) *pulumiv1.Program {
	t.Helper()
	var program pulumiv1.Program
	if err := cluster.Admin(t).Get(t.Context(), client.ObjectKey{Namespace: one.namespace, Name: "orders"}, &program); err != nil {
		t.Fatal(err)
	}
	return &program
}
