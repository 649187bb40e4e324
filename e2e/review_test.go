package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// A plan is signed by somebody else than its author, in their own name, or not at
// all.
func TestWhoMaySign(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	admin, err := p.AdminKubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	// The author may review too, so that only the gate stands in the way.
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "developer-reviews"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "towpath-approver"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "developer"}},
	}
	if err := p.admin.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	name := p.propose(t, "developer", proposal("signed", "blue", "dev", "test"))
	cr := p.awaitPhases(t, name, map[string]v1alpha1.StackPhase{"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview})
	digest := in(cr, "test").Plan.Digest
	const ownWork = "The author of a change cannot approve it; somebody else has to."
	forged := map[string]any{"reviewer": map[string]any{"username": "approver", "groups": []string{"approver"}}}

	t.Run("the author on the command line", func(t *testing.T) {
		p.towpath(t, "developer", "", "approve", name, "test").refused(t, "It was recorded and does not count: "+ownWork)
	})
	t.Run("the author by kubectl", func(t *testing.T) {
		p.checkReview(t, p.Kubeconfig("developer"), nil, review(name, "test", digest, "Approve", nil), "developer", false, ownWork)
	})
	t.Run("the author in another's name", func(t *testing.T) {
		p.checkReview(t, p.Kubeconfig("developer"), nil, review(name, "test", digest, "Approve", forged), "developer", false, ownWork)
	})
	t.Run("the author impersonated, in another's name", func(t *testing.T) {
		as := []string{"--as=developer", "--as-group=developer", "--as-group=approver"}
		p.checkReview(t, admin, as, review(name, "test", digest, "Approve", forged), "developer", false, ownWork)
	})
	t.Run("the author impersonating an approver", func(t *testing.T) {
		// kubectl's other ways begin with questions that this refusal ends too, in
		// fewer words.
		p.kubectl(t, "developer", "{}", "create", "--raw", "/apis/towpath.dev/v1alpha1/namespaces/shop/reviews", "-f", "-", "--as=approver", "--as-group=approver").
			refused(t, `User "developer" cannot impersonate`)
	})
	t.Run("somebody without the right to review", func(t *testing.T) {
		p.towpath(t, "developer2", "", "approve", name, "test").
			refused(t, "You may not approve this plan: You may not review changes for environment test in namespace shop")
		p.kubectl(t, "developer2", review(name, "test", digest, "Approve", forged), "create", "-f", "-").
			refused(t, "You may not review changes for environment test in namespace shop")
	})
	t.Run("the author rewriting a review", func(t *testing.T) {
		created := strings.TrimSpace(p.kubectl(t, "developer", review(name, "test", digest, "Comment", map[string]any{"comment": "Please look."}), "create", "-o", "name", "-f", "-").works(t).out)
		p.kubectl(t, "developer", "", "patch", created, "--type=merge", "-p", `{"spec":{"decision":"Approve"}}`).refused(t, `cannot patch resource "reviews"`)
		kubectl(t, admin, "", "patch", created, "--type=merge", "-p", `{"spec":{"reviewer":{"username":"approver"}}}`).refused(t, "a Review is immutable: write another one")
		p.kubectl(t, "developer", "", "delete", created).refused(t, `cannot delete resource "reviews"`)
	})
	t.Run("the controller's verdict cannot be forged", func(t *testing.T) {
		patch := fmt.Sprintf(`{"status":{"stacks":[{"environment":"test","stack":"signed-test","phase":"Approved","plan":{"digest":%q,"effectDigest":"","summary":{"create":0,"update":0,"replace":0,"delete":0,"same":0}}}]}}`, digest)
		p.kubectl(t, "developer", "", "patch", "changerequest", name, "--subresource=status", "--type=merge", "-p", patch).refused(t, `"changerequests/status"`)
		kubectl(t, admin, "", "patch", "changerequest", name, "--subresource=status", "--type=merge", "-p", patch).refused(t, "can only be written by the Towpath controller")
	})
	t.Run("a plan that is another change's", func(t *testing.T) {
		other := "sha256:" + strings.Repeat("0", 64)
		p.checkReview(t, p.Kubeconfig("approver"), nil, review(name, "test", other, "Approve", nil), "approver", false,
			"It is of an outdated plan: the plan has changed since. Look at the new one.")
		p.towpath(t, "approver", "", "approve", name, "test", "--plan", "000000000000").refused(t, "not 000000000000; look at it again.")
	})
	if phase := in(*get(t, p, team, name, &v1alpha1.ChangeRequest{}), "test").Phase; phase != v1alpha1.StackInReview {
		t.Fatalf("after all that, test is %s; want %s", phase, v1alpha1.StackInReview)
	}
	t.Run("somebody else, who is named whatever the client wrote", func(t *testing.T) {
		forged := map[string]any{"reviewer": map[string]any{"username": "approver"}}
		as := []string{"--as=approver2", "--as-group=approver"}
		p.checkReview(t, admin, as, review(name, "test", digest, "Approve", forged), "approver2", true, "Approved.")
		cr := p.awaitEnd(t, name, v1alpha1.ChangeApplied)
		if diff := cmp.Diff([]string{"approver2"}, in(cr, "test").Approval.By); diff != "" {
			t.Error("approved by:\n" + diff)
		}
	})
}

// checkReview creates a review with kubectl and looks at what the gate makes of it.
func (p *portal) checkReview(t *testing.T, kubeconfig string, flags []string, manifest, reviewer string, counts bool, message string) {
	t.Helper()
	args := append([]string{"create", "-n", team, "-o", "json", "-f", "-"}, flags...)
	var created v1alpha1.Review
	if err := json.Unmarshal([]byte(kubectl(t, kubeconfig, manifest, args...).works(t).out), &created); err != nil {
		t.Fatal(err)
	}
	judged := p.awaitJudgement(t, created.Name)
	got := fmt.Sprintf("%s: %t, %s", judged.Spec.Reviewer.Username, *judged.Status.Counts, judged.Status.Message)
	if diff := cmp.Diff(fmt.Sprintf("%s: %t, %s", reviewer, counts, message), got); diff != "" {
		t.Error(diff)
	}
}

func (p *portal) awaitJudgement(t *testing.T, name string) *v1alpha1.Review {
	t.Helper()
	judged := &v1alpha1.Review{}
	p.await(t, "a word on review "+name, func(context.Context) (bool, string, error) {
		judged = get(t, p, team, name, &v1alpha1.Review{})
		return judged.Status.Counts != nil, "", nil
	})
	return judged
}

// A rejected plan is not applied, and nothing after it.
func TestReject(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	name := p.propose(t, "developer", proposal("rejected", "blue", inOrder...))
	p.awaitPhases(t, name, map[string]v1alpha1.StackPhase{"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview, "prod": v1alpha1.StackInReview})
	p.towpath(t, "approver", "", "reject", name, "test").refused(t, `required flag(s) "message" not set`)
	said := p.towpath(t, "approver", "", "reject", name, "test", "-m", "Blue is taken.").works(t).out
	if !strings.HasPrefix(said, "Rejected: plan ") {
		t.Errorf("reject says %q", said)
	}
	cr := p.awaitEnd(t, name, v1alpha1.ChangeRejected)
	if diff := cmp.Diff("test: approver rejected it: Blue is taken.", cr.Status.Message); diff != "" {
		t.Error(diff)
	}
	p.towpath(t, "approver", "", "approve", name, "prod").refused(t, "The change has ended: Rejected.")
	for _, environment := range []string{"test", "prod"} {
		if slices.Contains(p.names(t, &corev1.ConfigMapList{}, "shop-"+environment), "rejected") ||
			slices.Contains(p.names(t, &pulumiv1.StackList{}, team), "rejected-"+environment) {
			t.Errorf("what was rejected is in %s", environment)
		}
	}
}
