package deploy_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What each role may do in its namespace, and what not.
func TestRoles(t *testing.T) {
	type right struct{ verb, group, resource string }
	for role, test := range map[string]struct {
		may, mayNot []right
	}{
		"towpath-viewer": {
			may: []right{
				{"list", "towpath.dev", "changerequests"}, {"watch", "towpath.dev", "runs"}, {"get", "pulumi.com", "stacks"},
			},
			mayNot: []right{
				{"create", "towpath.dev", "changerequests"},
				{"create", "towpath.dev", "reviews"},
				{"get", "", "secrets"},
				{"review", "towpath.dev", "environments"},
			},
		},
		"towpath-developer": {
			may: []right{
				{"create", "towpath.dev", "changerequests"},
				{"patch", "towpath.dev", "changerequests"},
				{"create", "towpath.dev", "reviews"},
				{"get", "towpath.dev", "runs"},
				{"update", "pulumi.com", "stacks"},
				{"delete", "pulumi.com", "programs"},
				{"list", "apps", "controllerrevisions"},
				{"create", "", "secrets"},
			},
			mayNot: []right{
				{"delete", "towpath.dev", "changerequests"},
				{"withdraw", "towpath.dev", "changerequests"},
				{"update", "towpath.dev", "changerequests/status"},
				{"update", "towpath.dev", "reviews"},
				{"update", "towpath.dev", "reviews/status"},
				{"delete", "towpath.dev", "reviews"},
				{"review", "towpath.dev", "environments"},
				{"create", "towpath.dev", "runs"},
				{"patch", "pulumi.com", "stacks/status"},
				{"create", "apps", "controllerrevisions"},
				{"get", "", "secrets"},
				{"list", "", "secrets"},
				{"update", "", "secrets"},
				{"patch", "", "secrets"},
				{"create", "", "serviceaccounts/token"},
				{"impersonate", "", "serviceaccounts"},
				{"update", "towpath.dev", "environments"},
			},
		},
		"towpath-approver": {
			may: []right{
				{"review", "towpath.dev", "environments"},
				{"create", "towpath.dev", "reviews"},
				{"withdraw", "towpath.dev", "changerequests"},
				{"get", "towpath.dev", "runs"},
			},
			mayNot: []right{
				{"create", "towpath.dev", "changerequests"},
				{"update", "pulumi.com", "programs"},
				{"delete", "towpath.dev", "reviews"},
				{"update", "towpath.dev", "reviews/status"},
				{"update", "towpath.dev", "environments"},
				{"get", "", "secrets"},
			},
		},
		"towpath-deployer": {
			may: []right{
				{"create", "apps", "deployments"},
				{"delete", "apps", "statefulsets"},
				{"patch", "", "services"},
				{"create", "", "secrets"},
				{"create", "networking.k8s.io", "ingresses"},
				{"create", "autoscaling", "horizontalpodautoscalers"},
				{"create", "policy", "poddisruptionbudgets"},
				{"create", "rbac.authorization.k8s.io", "rolebindings"},
				{"get", "", "pods/log"},
			},
			mayNot: []right{
				{"create", "", "pods/exec"},
				{"create", "", "serviceaccounts/token"},
				{"impersonate", "", "serviceaccounts"},
				{"escalate", "rbac.authorization.k8s.io", "roles"},
				{"bind", "rbac.authorization.k8s.io", "clusterroles"},
				{"create", "towpath.dev", "reviews"},
				{"create", "pulumi.com", "stacks"},
			},
		},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			namespace := team(t)
			user := "user-of-" + role
			bind(t, namespace, role, "{kind: User, apiGroup: rbac.authorization.k8s.io, name: "+user+"}")
			as := client(t, person(t, user))
			first := test.may[0]
			awaitRight(t, as, namespace, first.verb, first.group, first.resource)
			for _, r := range test.may {
				if !may(t, as, namespace, r.verb, r.group, r.resource, "") {
					t.Errorf("may not %s %s", r.verb, r.resource)
				}
			}
			for _, r := range test.mayNot {
				if may(t, as, namespace, r.verb, r.group, r.resource, "") {
					t.Errorf("may %s %s", r.verb, r.resource)
				}
			}
			if other := "kube-public"; may(t, as, other, first.verb, first.group, first.resource, "") {
				t.Errorf("may %s %s in namespace %s too", first.verb, first.resource, other)
			}
		})
	}
}

// A preview that could do less than the apply would fail where the apply passes.
func TestThePreviewerMirrorsTheDeployer(t *testing.T) {
	deployer, previewer := clusterRole(t, "towpath-deployer"), clusterRole(t, "towpath-previewer")
	if fmt.Sprint(deployer) != fmt.Sprint(previewer) {
		t.Errorf("the rules differ:\n%v\n%v", deployer, previewer)
	}
}

func TestEverybodyReadsTheCatalogue(t *testing.T) {
	as := client(t, person(t, "anybody"))
	for _, resource := range []string{"environments", "goldenpaths", "goldenpathversions"} {
		if !may(t, as, "", "list", "towpath.dev", resource, "") {
			t.Errorf("may not list %s", resource)
		}
		if may(t, as, "", "update", "towpath.dev", resource, "") {
			t.Errorf("may update %s", resource)
		}
	}
}

// The controller hands out no rights and deploys nothing itself.
func TestTheControllerIsNoDeployer(t *testing.T) {
	as := controller(t)
	namespace := team(t)
	for resource, group := range map[string]string{
		"deployments": "apps", "services": "", "secrets": "", "rolebindings": "rbac.authorization.k8s.io", "pods/exec": "",
	} {
		if may(t, as, namespace, "create", group, resource, "") {
			t.Errorf("may create %s", resource)
		}
	}
	if may(t, as, namespace, "impersonate", "", "users", "") {
		t.Error("may impersonate users")
	}
}

func clusterRole(t *testing.T, name string) any {
	t.Helper()
	role, err := admin(t).Resource(clusterRoles).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return role.Object["rules"]
}
