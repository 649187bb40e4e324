package change

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestHealthIsAwaited(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	s.approved("first", "test")
	s.health.health, s.health.message = Unknown, "ConfigMap shop/settings: its health is unknown."
	sc := in(t, s.applied("first", "dev"), "dev")
	if sc.Phase != v1alpha1.StackVerifying || sc.Waiting.Kind != v1alpha1.WaitHealth || sc.Waiting.Message != s.health.message || sc.Waiting.NextLook == nil {
		t.Errorf("unknown health: %s, %+v", sc.Phase, sc.Waiting)
	}
	want := []v1alpha1.ObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"}}
	if diff := cmp.Diff(want, s.health.asked); diff != "" {
		t.Errorf("asked about:\n%s", diff)
	}
	s.clock.now = s.clock.now.Add(9 * time.Minute)
	if sc := in(t, s.look("first"), "dev"); sc.Phase != v1alpha1.StackVerifying {
		t.Errorf("after nine minutes: %s", sc.Phase)
	}
	s.clock.now = s.clock.now.Add(time.Minute)
	cr := s.look("first")
	wantEnd := []string{"Failed", "dev Failed, test Approved", "dev: Applied, but not healthy within 10 minutes: ConfigMap shop/settings: its health is unknown."}
	if diff := cmp.Diff(wantEnd, []string{string(cr.Status.Phase), cr.Status.Progress, cr.Status.Message}); diff != "" {
		t.Error(diff)
	}
	if n := len(s.runs(v1alpha1.Up)); n != 1 {
		t.Errorf("%d applies, want none after dev's", n)
	}
}

// Health that comes after the controller was away for long still counts.
func TestHealthAfterTheTimeout(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev"))
	s.previewed("first")
	s.health.health = Progressing
	s.applied("first", "dev")
	s.clock.now = s.clock.now.Add(time.Hour)
	s.health.health = Healthy
	if cr := s.look("first"); cr.Status.Phase != v1alpha1.ChangeApplied {
		t.Errorf("phase %s: %s", cr.Status.Phase, cr.Status.Message)
	}
}

func TestAnUpstreamSuccessThatIsTooOld(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	first := in(t, s.applied("first", "dev"), "dev")
	s.clock.now = s.clock.now.Add(25 * time.Hour)
	cr := s.approved("first", "test")
	dev, test := in(t, cr, "dev"), in(t, cr, "test")
	if dev.Phase != v1alpha1.StackPreviewing || dev.Preview == first.Preview || test.Phase != v1alpha1.StackApproved {
		t.Fatalf("dev %s (%s), test %s: dev is to be applied again first", dev.Phase, dev.Message, test.Phase)
	}
	if diff := cmp.Diff("Applied again, so that it is fresh for test.", dev.Message); diff != "" {
		t.Error(diff)
	}
	// It comes out empty and approves itself.
	s.ends(dev.Preview, v1alpha1.RunSucceeded, func(status *v1alpha1.RunStatus) { status.Summary = &v1alpha1.PlanSummary{Same: 1} })
	cr = s.look("first")
	if dev := in(t, cr, "dev"); dev.Phase != v1alpha1.StackApplying || dev.Apply == first.Apply {
		t.Fatalf("dev %s, apply %s", dev.Phase, dev.Apply)
	}
	cr = s.applied("first", "dev")
	if diff := cmp.Diff("dev Applied, test Applying", cr.Status.Progress); diff != "" {
		t.Error(diff)
	}
}

func TestAChangeThatLeavesItsUpstreamOut(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("test"))
	s.previewed("first")
	cr := s.approved("first", "test")
	want := []string{"Applying", "test: test comes after dev, and this change does not go to dev."}
	if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Message}); diff != "" {
		t.Error(diff)
	}
}

// spec.prerequisites of a Stack keeps the operator's meaning, also for Stacks that
// are not of this service.
func TestThePrerequisitesOfAStack(t *testing.T) {
	s := newScene(t)
	stack := func(name, service string) *pulumiv1.Stack {
		o := &pulumiv1.Stack{Spec: pulumiv1.StackSpec{
			Stack: "organization/" + service + "/dev", Backend: "file:///state", ProgramRef: &pulumiv1.ProgramReference{Name: service},
		}}
		o.Namespace, o.Name, o.Labels = s.namespace, name, map[string]string{v1alpha1.EnvironmentLabel: "dev"}
		return o
	}
	mine := stack("orders-dev", "orders")
	mine.Spec.Prerequisites = []pulumiv1.PrerequisiteRef{{Name: "network", Requirement: &pulumiv1.RequirementSpec{
		SucceededWithinDuration: &metav1.Duration{Duration: time.Hour},
	}}}
	s.has(mine)
	s.propose("first", to("dev"))
	waits := func(cr *v1alpha1.ChangeRequest, want string) {
		t.Helper()
		sc := in(t, cr, "dev")
		if sc.Phase != v1alpha1.StackApproved || sc.Waiting == nil || sc.Waiting.Kind != v1alpha1.WaitPrerequisite {
			t.Fatalf("got %s, %+v", sc.Phase, sc.Waiting)
		}
		if diff := cmp.Diff(want, sc.Waiting.Message); diff != "" {
			t.Error(diff)
		}
	}
	waits(s.previewed("first"), "Stack network is a prerequisite and does not exist.")
	network := stack("network", "network")
	s.has(network)
	waits(s.look("first"), "Stack network is a prerequisite and has not run to completion.")
	network.Status.LastUpdate = &pulumiv1.StackUpdateState{
		Generation: network.Generation, Type: "up", State: "succeeded", LastResyncTime: metav1.NewTime(s.clock.now.Add(-2 * time.Hour)),
	}
	if err := s.admin.Status().Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	waits(s.look("first"), "Stack network is a prerequisite and is out of date: it succeeded more than 1 hour ago.")
	network.Status.LastUpdate.LastResyncTime = metav1.NewTime(s.clock.now)
	if err := s.admin.Status().Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	if sc := in(t, s.look("first"), "dev"); sc.Phase != v1alpha1.StackApplying {
		t.Errorf("got %s, %+v", sc.Phase, sc.Waiting)
	}
}
