package change

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestAChangeGoesThroughItsEnvironmentsInOrder(t *testing.T) {
	s := newScene(t)
	stands := func(cr *v1alpha1.ChangeRequest, phase v1alpha1.ChangePhase, progress, message string) {
		t.Helper()
		want := []string{string(phase), progress, message}
		got := []string{string(cr.Status.Phase), cr.Status.Progress, cr.Status.Message}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}

	stands(s.propose("first"), v1alpha1.ChangePreviewing, "dev Previewing, test Previewing, prod Previewing", "dev: The plan is being made.")
	if n := len(s.runs(v1alpha1.Preview)); n != 3 {
		t.Fatalf("%d previews, want one per environment", n)
	}
	var early pulumiv1.Program
	if err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "orders"}, &early); !apierrors.IsNotFound(err) {
		t.Fatalf("the Program is written before anybody approved it: %v", err)
	}

	stands(s.previewed("first"), v1alpha1.ChangeApplying, "dev Applying, test AwaitingReview, prod AwaitingReview", "dev: It is being applied.")
	cr := s.approved("first", "prod")
	stands(cr, v1alpha1.ChangeApplying, "dev Applying, test AwaitingReview, prod Approved", "dev: It is being applied.")
	if diff := cmp.Diff("It goes to prod once it is applied and healthy in test.", in(t, cr, "prod").Waiting.Message); diff != "" {
		t.Error(diff)
	}

	s.health.health, s.health.message = Progressing, "ConfigMap shop/settings: not yet."
	stands(s.applied("first", "dev"), v1alpha1.ChangeApplying, "dev Verifying, test AwaitingReview, prod Approved", "dev: ConfigMap shop/settings: not yet.")
	stands(s.approved("first", "test"), v1alpha1.ChangeApplying, "dev Verifying, test Approved, prod Approved", "dev: ConfigMap shop/settings: not yet.")
	s.health.health = Healthy
	stands(s.look("first"), v1alpha1.ChangeApplying, "dev Applied, test Applying, prod Approved", "test: It is being applied.")
	stands(s.applied("first", "test"), v1alpha1.ChangeApplying, "dev Applied, test Applied, prod Applying", "prod: It is being applied.")
	stands(s.applied("first", "prod"), v1alpha1.ChangeApplied, "dev Applied, test Applied, prod Applied", "Applied and healthy in dev, test and prod.")
}

func TestWhatIsApprovedIsWhatIsHandedOver(t *testing.T) {
	s := newScene(t)
	s.propose("first", func(spec *v1alpha1.ChangeRequestSpec) {
		to("dev")(spec)
		spec.Environments[0].Config = map[string]apiextensionsv1.JSON{"size": {Raw: []byte("3")}}
	})
	cr := s.previewed("first")
	dev := in(t, cr, "dev")

	var written pulumiv1.Program
	s.get("orders", &written)
	if diff := cmp.Diff(cr.Spec.Program, written.Program); diff != "" {
		t.Errorf("the Program:\n%s", diff)
	}
	var stack pulumiv1.Stack
	s.get("orders-dev", &stack)
	wantStack := pulumiv1.StackSpec{
		Stack: "organization/orders/dev", Backend: "file:///state", ServiceAccountName: "deploy-dev",
		Config:     map[string]apiextensionsv1.JSON{"size": {Raw: []byte("3")}},
		ProgramRef: &pulumiv1.ProgramReference{Name: "orders"},
	}
	if diff := cmp.Diff(wantStack, stack.Spec); diff != "" {
		t.Errorf("the Stack:\n%s", diff)
	}
	if diff := cmp.Diff("dev", stack.Labels[v1alpha1.EnvironmentLabel]); diff != "" {
		t.Error(diff)
	}
	for _, object := range []client.Object{&written, &stack} {
		if editor, edited := object.GetAnnotations()[v1alpha1.LastEditorAnnotation]; edited {
			t.Errorf("%s carries an edit by %q, though it came through the gate", object.GetName(), editor)
		}
	}

	preview, up := s.run(dev.Preview), s.run(dev.Apply)
	if diff := cmp.Diff("preview-dev", preview.Spec.ServiceAccountName); diff != "" {
		t.Errorf("the identity of the preview:\n%s", diff)
	}
	// The preview's run with what makes it an apply.
	wantUp := preview.Spec
	wantUp.Operation, wantUp.ServiceAccountName = v1alpha1.Up, "deploy-dev"
	wantUp.Approved = &v1alpha1.ApprovedPlan{
		Digest: preview.Status.PlanDigest, EffectDigest: preview.Status.EffectDigest, Inputs: preview.Status.Inputs, Preview: preview.Name,
	}
	if diff := cmp.Diff(wantUp, up.Spec); diff != "" {
		t.Errorf("the apply:\n%s", diff)
	}
	if up.Labels[v1alpha1.StackKeyLabel] == "" || up.Labels[v1alpha1.StackKeyLabel] != preview.Labels[v1alpha1.StackKeyLabel] {
		t.Error("preview and apply of one Pulumi stack do not exclude each other")
	}

	var snapshot appsv1.ControllerRevision
	s.get(cr.Status.Snapshot, &snapshot)
	var kept pulumiv1.ProgramSpec
	if err := json.Unmarshal(snapshot.Data.Raw, &kept); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cr.Spec.Program, kept); diff != "" {
		t.Errorf("the snapshot:\n%s", diff)
	}
	if len(snapshot.OwnerReferences) != 1 || snapshot.OwnerReferences[0].UID != written.UID {
		t.Errorf("the snapshot is owned by %+v, want the Program", snapshot.OwnerReferences)
	}
}

func TestWhyAnEnvironmentWaits(t *testing.T) {
	s := newScene(t)
	s.propose("first")
	cr := s.previewed("first")
	ignored := cmpopts.IgnoreFields(v1alpha1.Waiting{}, "Since")
	for environment, want := range map[string]*v1alpha1.Waiting{
		"dev":  {Kind: v1alpha1.WaitApply, Message: "It is being applied.", Who: "nobody: run " + in(t, cr, "dev").Apply + " is at work"},
		"test": {Kind: v1alpha1.WaitReview, Message: "The plan (1 to create) waits for an approval.", Who: "whoever may review test, except ana"},
	} {
		got := in(t, cr, environment).Waiting
		if diff := cmp.Diff(want, got, ignored); diff != "" {
			t.Errorf("%s:\n%s", environment, diff)
		}
		if got != nil && got.Since.IsZero() {
			t.Errorf("%s does not say since when it waits", environment)
		}
	}
	since := in(t, cr, "test").Waiting.Since
	s.clock.now = s.clock.now.Add(10 * sweep)
	if diff := cmp.Diff(since, in(t, s.look("first"), "test").Waiting.Since); diff != "" {
		t.Errorf("the wait for a review begins anew with every look:\n%s", diff)
	}
}

func TestAnEmptyPlanApprovesItself(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first", func(status *v1alpha1.RunStatus) {
		status.Summary = &v1alpha1.PlanSummary{Same: 4, Text: "nothing changes"}
	})
	cr := s.applied("first", "dev")
	want := v1alpha1.Approval{Automatic: true, Reason: "Nothing changes"}
	test := in(t, cr, "test")
	if diff := cmp.Diff(&want, test.Approval, cmpopts.IgnoreFields(v1alpha1.Approval{}, "At")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(v1alpha1.StackApplying, test.Phase); diff != "" {
		t.Error(diff)
	}
}

func TestAnAutoApprovalSaysWhy(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev"))
	cr := s.previewed("first")
	want := v1alpha1.Approval{Automatic: true, Reason: "Nothing is deleted"}
	got := in(t, cr, "dev").Approval
	if diff := cmp.Diff(&want, got, cmpopts.IgnoreFields(v1alpha1.Approval{}, "At")); diff != "" {
		t.Fatal(diff)
	}
	if got.At.IsZero() {
		t.Error("the approval has no time")
	}
}

func TestARuleThatDoesNotMatchLeavesThePlanToPeople(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev"))
	cr := s.previewed("first", func(status *v1alpha1.RunStatus) {
		status.Summary = &v1alpha1.PlanSummary{Delete: 1, Text: "1 to delete"}
	})
	if diff := cmp.Diff("dev: The plan (1 to delete) waits for an approval.", cr.Status.Message); diff != "" {
		t.Error(diff)
	}
}

func TestTheSecondChangeOfAServiceKeepsItsStack(t *testing.T) {
	s := newScene(t)
	s.propose("first", func(spec *v1alpha1.ChangeRequestSpec) {
		to("dev")(spec)
		spec.Environments[0].Config = map[string]apiextensionsv1.JSON{"size": {Raw: []byte("3")}}
	})
	s.previewed("first")
	s.applied("first", "dev")
	s.propose("second", to("dev"))
	s.previewed("second")
	cr := s.applied("second", "dev")
	if diff := cmp.Diff(v1alpha1.ChangeApplied, cr.Status.Phase); diff != "" {
		t.Error(diff)
	}
	var stack pulumiv1.Stack
	s.get("orders-dev", &stack)
	if diff := cmp.Diff(map[string]apiextensionsv1.JSON{"size": {Raw: []byte("3")}}, stack.Spec.Config); diff != "" {
		t.Errorf("what the second change does not mention:\n%s", diff)
	}
	var written pulumiv1.Program
	s.get("orders", &written)
	if diff := cmp.Diff(content("second"), written.Program); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(v1alpha1.ChangeApplied, s.changeRequest("first").Status.Phase); diff != "" {
		t.Errorf("the first change, which had ended:\n%s", diff)
	}
}
