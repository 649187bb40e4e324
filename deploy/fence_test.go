package deploy_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/towpath-dev/towpath/deploy"
)

// Without the mutating policies the validating ones still refuse a forged name.
func TestTheSecondFenceHoldsAlone(t *testing.T) {
	bindings := admin(t).Resource(schema.GroupVersionResource{
		Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings",
	})
	for _, name := range []string{"stamp-author.towpath.dev", "stamp-reviewer.towpath.dev"} {
		if err := bindings.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		config := person(t, "admin", "system:masters")
		if err := deploy.Install(context.WithoutCancel(t.Context()), config, func(string) {}); err != nil {
			t.Fatal(err)
		}
	})
	namespace := team(t)

	for name, test := range map[string]struct {
		kind    schema.GroupVersionResource
		object  string
		refused string
	}{
		"a forged author": {changeRequests, aChange + "\n  author: {username: ben}", "you cannot propose in somebody else's name"},
		"no author":       {changeRequests, aChange, "you cannot propose in somebody else's name"},
		"no reviewer":     {reviews, aComment, "you cannot review in somebody else's name"},
	} {
		t.Run(name, func(t *testing.T) {
			resource := developer(t).Resource(test.kind).Namespace(namespace)
			var answer error
			// The API server takes notice of the missing policies a little later.
			err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
				_, answer = resource.Create(ctx, parse(t, test.object), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				return answer != nil, nil
			})
			if err != nil {
				t.Fatal("a name that is not the caller's passed")
			}
			refusal(t, answer, test.refused)
		})
	}
}

// A repeated installation changes nothing, and one after a loss repairs it before
// it returns.
func TestInstallRepeats(t *testing.T) {
	policies := admin(t).Resource(schema.GroupVersionResource{
		Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies",
	})
	install := func() {
		t.Helper()
		if err := deploy.Install(t.Context(), person(t, "admin", "system:masters"), func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	install()
	before, err := policies.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	install()
	after, err := policies.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, policy := range before.Items {
		if policy.GetResourceVersion() != after.Items[i].GetResourceVersion() {
			t.Errorf("policy %s was written again", policy.GetName())
		}
	}

	if err := policies.Delete(t.Context(), "controller-only.towpath.dev", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	install()
	_, err = admin(t).Resource(runs).Namespace(team(t)).Create(t.Context(), parse(t, aRun), metav1.CreateOptions{})
	refusal(t, err, "Runs can only be written by the Towpath controller.")
}
