package stack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func (s *scene) ana() client.Client { return cluster.As(s, "ana", "developer") }

func goesTo(cr v1alpha1.ChangeRequest) []string {
	var names []string
	for _, proposal := range cr.Spec.Environments {
		names = append(names, string(proposal.Name))
	}
	return names
}

func TestWhatWasAppliedByHandComesToTheGate(t *testing.T) {
	s := newScene(t)
	s.writes(s.ana(), s.program(), s.stack("dev"), s.stack("test"))
	s.look("dev")
	s.look("test")
	changes := s.changes()
	if len(changes) != 1 {
		t.Fatalf("%d changes, want one for the Program and both its Stacks", len(changes))
	}
	cr := changes[0]
	if diff := cmp.Diff("ana", cr.Spec.Author.Username); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"dev", "test"}, goesTo(cr)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(content("a"), cr.Spec.Program); diff != "" {
		t.Error(diff)
	}
}

func TestAnEditRestsBeforeItComesToTheGate(t *testing.T) {
	s := newScene(t)
	program := s.program()
	s.writes(s.ana(), program, s.stack("dev"))
	s.get("orders", program)
	s.clock.now = program.CreationTimestamp.Time
	after := s.look("dev").RequeueAfter
	if n := len(s.changes()); n != 0 || after <= 0 || after > settleTime+time.Second {
		t.Errorf("%d changes at once; it looks again after %s", n, after)
	}
	s.clock.now = s.clock.now.Add(settleTime + time.Second)
	s.look("dev")
	if n := len(s.changes()); n != 1 {
		t.Errorf("%d changes after the edit has rested", n)
	}
}

func TestAnEditComesToTheGateOnce(t *testing.T) {
	for name, phase := range map[string]v1alpha1.ChangePhase{
		"it is open": v1alpha1.ChangeInReview, "it was rejected": v1alpha1.ChangeRejected, "it failed": v1alpha1.ChangeFailed,
		"it was withdrawn": v1alpha1.ChangeWithdrawn, "it was refused": v1alpha1.ChangeRefused,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.writes(s.ana(), s.program(), s.stack("dev"))
			s.look("dev")
			s.ends(s.changes()[0], phase)
			s.look("dev")
			s.look("dev")
			if n := len(s.changes()); n != 1 {
				t.Errorf("%d changes, want 1", n)
			}
		})
	}
}

// When part of an edit came through before the rest was rejected, the rest is not
// asked for again.
func TestTheRestOfARejectedEdit(t *testing.T) {
	s := newScene(t)
	program, dev := s.program(), s.stack("dev")
	s.writes(s.ana(), program, dev, s.stack("test"))
	s.look("dev")
	s.settled(program)
	s.settled(dev)
	s.ends(s.changes()[0], v1alpha1.ChangeRejected)
	s.look("dev")
	s.look("test")
	if n := len(s.changes()); n != 1 {
		t.Errorf("%d changes, want 1", n)
	}
}

func TestAnEditThatIsMadeAgainComesToTheGateAgain(t *testing.T) {
	s := newScene(t)
	program, stack := s.program(), s.stack("dev")
	s.writes(s.ana(), program, stack)
	s.look("dev")
	through := func() {
		t.Helper()
		for _, cr := range s.changes() {
			s.ends(cr, v1alpha1.ChangeApplied)
		}
		s.settled(program)
		s.settled(stack)
		s.look("dev")
	}
	through()
	for i, value := range []string{"b", "a", "b"} {
		program.Program = content(value)
		s.edits(s.ana(), program)
		s.look("dev")
		if n := len(s.changes()); n != i+2 {
			t.Fatalf("%d changes after edit %d to %s, want %d", n, i+1, value, i+2)
		}
		through()
	}
}

func TestAnEditOfOneStackIsForThatOneAlone(t *testing.T) {
	s := newScene(t)
	s.writes(s.controller, s.program(), s.stack("dev"), s.stack("test"))
	s.look("test")
	if n := len(s.changes()); n != 0 {
		t.Fatalf("%d changes of what the controller wrote itself", n)
	}
	var test pulumiv1.Stack
	s.get("orders-test", &test)
	test.Spec.Config = map[string]apiextensionsv1.JSON{"size": {Raw: []byte("3")}}
	s.edits(cluster.As(t, "dan", "developer"), &test)
	s.look("test")
	changes := s.changes()
	if len(changes) != 1 {
		t.Fatalf("%d changes", len(changes))
	}
	if diff := cmp.Diff([]string{"dan", "test"}, append([]string{changes[0].Spec.Author.Username}, goesTo(changes[0])...)); diff != "" {
		t.Error(diff)
	}
}

func TestAProposalOfTheSameCoversAnEdit(t *testing.T) {
	for name, test := range map[string]struct {
		value string
		envs  []v1alpha1.EnvironmentProposal
		phase v1alpha1.ChangePhase
		want  int
	}{
		"the same, and it is open":                  {"a", []v1alpha1.EnvironmentProposal{{Name: "dev"}, {Name: "test"}}, v1alpha1.ChangeInReview, 1},
		"the same, but it was rejected":             {"a", []v1alpha1.EnvironmentProposal{{Name: "dev"}, {Name: "test"}}, v1alpha1.ChangeRejected, 2},
		"more environments":                         {"a", []v1alpha1.EnvironmentProposal{{Name: "dev"}, {Name: "test"}, {Name: "prod"}}, v1alpha1.ChangeInReview, 1},
		"fewer environments":                        {"a", []v1alpha1.EnvironmentProposal{{Name: "dev"}}, v1alpha1.ChangeInReview, 2},
		"another content":                           {"b", []v1alpha1.EnvironmentProposal{{Name: "dev"}, {Name: "test"}}, v1alpha1.ChangeInReview, 2},
		"the same, but it can never be previewed":   {"a", []v1alpha1.EnvironmentProposal{{Name: "dev"}, {Name: "test"}}, v1alpha1.ChangeRefused, 2},
		"the same, and nobody has looked at it yet": {"a", []v1alpha1.EnvironmentProposal{{Name: "dev"}, {Name: "test"}}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.writes(s.ana(), s.program(), s.stack("dev"), s.stack("test"))
			cr := &v1alpha1.ChangeRequest{Spec: v1alpha1.ChangeRequestSpec{Service: "orders", Program: content(test.value), Environments: test.envs}}
			cr.Namespace, cr.Name = s.namespace, "proposed"
			s.writes(s.ana(), cr)
			if test.phase != "" {
				s.ends(*cr, test.phase)
			}
			s.look("dev")
			if n := len(s.changes()); n != test.want {
				t.Errorf("%d changes, want %d", n, test.want)
			}
		})
	}
}

// A name that no change can have is told on the Stack.
func TestAnEditThatCannotBeBroughtToTheGate(t *testing.T) {
	s := newScene(t)
	program, stack := s.program(), s.stack("dev")
	program.Name = "a-service-whose-name-is-too-long-for-a-change"
	stack.Spec.ProgramRef.Name = program.Name
	s.writes(s.ana(), program, stack)
	s.look("dev")
	s.get("orders-dev", stack)
	var stalled *metav1.Condition
	for i, c := range stack.Status.Conditions {
		if c.Type == pulumiv1.StalledCondition {
			stalled = &stack.Status.Conditions[i]
		}
	}
	if stalled == nil || stalled.Reason != "SpecInvalid" {
		t.Errorf("conditions: %+v", stack.Status.Conditions)
	}
}

func TestDeletion(t *testing.T) {
	destroys := func(stack *pulumiv1.Stack) { stack.Spec.DestroyOnFinalize = true }
	held := func(stack *pulumiv1.Stack) { stack.Finalizers = []string{Finalizer} }
	for name, test := range map[string]struct {
		edits []func(*pulumiv1.Stack)
		gone  bool
	}{
		"an ordinary Stack goes":                            {nil, true},
		"one that the operator has held goes, too":          {[]func(*pulumiv1.Stack){held}, true},
		"one whose resources are to be destroyed is held":   {[]func(*pulumiv1.Stack){destroys}, false},
		"one that is held already, and is to be, stays so ": {[]func(*pulumiv1.Stack){destroys, held}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			stack := s.stack("dev", test.edits...)
			s.writes(s.controller, s.program(), stack)
			s.look("dev")
			if err := s.admin.Delete(t.Context(), stack); err != nil {
				t.Fatal(err)
			}
			s.look("dev")
			err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(stack), stack)
			if gone := apierrors.IsNotFound(err); gone != test.gone {
				t.Fatalf("gone: %t (%v)", gone, err)
			}
			if test.gone {
				return
			}
			var stalled []string
			for _, c := range stack.Status.Conditions {
				if c.Type == pulumiv1.StalledCondition {
					stalled = append(stalled, c.Reason)
				}
			}
			if diff := cmp.Diff([]string{"DestroyNotAvailable"}, stalled); diff != "" {
				t.Error(diff)
			}
			if n := len(s.changes()); n != 0 {
				t.Errorf("%d changes for a Stack that is going", n)
			}
			// Somebody decides otherwise.
			stack.Spec.DestroyOnFinalize = false
			s.edits(s.admin, stack)
			s.look("dev")
			if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(stack), stack); !apierrors.IsNotFound(err) {
				t.Errorf("it is still held: %v", err)
			}
		})
	}
}

// What the reconciler writes is what kubectl and Argo CD read: through the API
// server, and the same with every look.
func TestTheStatusIsStored(t *testing.T) {
	s := newScene(t)
	s.writes(s.controller, s.program(), s.stack("dev"))
	run := func(name string, operation v1alpha1.Operation) {
		r := &v1alpha1.Run{Spec: v1alpha1.RunSpec{
			Operation: operation, Environment: "dev", Service: "orders", StackName: "orders-dev", Snapshot: "orders-1", ServiceAccountName: "default",
			Stack: pulumiv1.StackSpec{Stack: "organization/orders/dev"},
		}}
		r.Namespace, r.Name = s.namespace, name
		s.writes(s.controller, r)
		at := metav1.NewTime(s.clock.now.Truncate(time.Second))
		r.Status = v1alpha1.RunStatus{Phase: v1alpha1.RunSucceeded, Message: "Done.", FinishedAt: &at}
		if err := s.controller.Status().Update(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var stack pulumiv1.Stack
	run("preview", v1alpha1.Preview)
	s.look("dev")
	s.get("orders-dev", &stack)
	if stack.Status.LastUpdate != nil {
		t.Errorf("a preview is taken for an update: %+v", stack.Status.LastUpdate)
	}
	run("up", v1alpha1.Up)
	s.look("dev")
	s.get("orders-dev", &stack)
	if last := stack.Status.LastUpdate; last == nil || last.Name != "up" || last.State != "succeeded" {
		t.Errorf("lastUpdate: %+v", last)
	}
	if len(stack.Status.Conditions) != 1 || stack.Status.Conditions[0].Type != "Ready" || stack.Status.Conditions[0].Status != "True" {
		t.Errorf("conditions: %+v", stack.Status.Conditions)
	}
	before := stack.ResourceVersion
	s.clock.now = s.clock.now.Add(time.Hour)
	s.look("dev")
	s.get("orders-dev", &stack)
	if diff := cmp.Diff(before, stack.ResourceVersion); diff != "" {
		t.Errorf("a look without news writes:\n%s", diff)
	}
}
