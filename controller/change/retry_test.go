package change

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestHowAPreviewMayEnd(t *testing.T) {
	for name, test := range map[string]struct {
		phase   v1alpha1.RunPhase
		edits   []func(*v1alpha1.RunStatus)
		message string
		final   bool
	}{
		"it fails":                            {v1alpha1.RunFailed, nil, "The preview failed: It is Failed.", true},
		"it fails, through no fault of its":   {v1alpha1.RunFailed, []func(*v1alpha1.RunStatus){retryable}, "The preview failed: It is Failed.", false},
		"it is interrupted":                   {v1alpha1.RunInterrupted, nil, "The preview was cut short: It is Interrupted.", false},
		"its runner dies":                     {v1alpha1.RunLost, []func(*v1alpha1.RunStatus){retryable}, "The preview was cut short: It is Lost.", false},
		"it diverges, which a preview cannot": {v1alpha1.RunDiverged, nil, "The preview failed: It is Diverged.", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			first := in(t, s.propose("first", to("dev")), "dev").Preview
			s.ends(first, test.phase, test.edits...)
			cr := s.look("first")
			if test.final {
				want := []string{"Failed", "dev Failed", "dev: " + test.message}
				if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Progress, cr.Status.Message}); diff != "" {
					t.Error(diff)
				}
				return
			}
			s.paused(cr, "dev", test.message, 10*time.Second)
			sc := in(t, s.look("first"), "dev")
			if sc.Preview == first || sc.Attempt != 2 || sc.Phase != v1alpha1.StackPreviewing {
				t.Errorf("phase %s, attempt %d, preview %s", sc.Phase, sc.Attempt, sc.Preview)
			}
		})
	}
}

// paused checks that an environment waits for a retry, moves the clock to just
// before its end, checks that nothing happens, and moves it to its end.
func (s *scene) paused(cr *v1alpha1.ChangeRequest, environment, message string, pause time.Duration) {
	s.Helper()
	sc := in(s, cr, environment)
	if sc.Waiting == nil || sc.Waiting.Kind != v1alpha1.WaitRetry || sc.Waiting.Message != message || sc.Waiting.NextLook == nil {
		s.Fatalf("got phase %s, waiting %+v; want a retry of %q", sc.Phase, sc.Waiting, message)
	}
	began := s.run(orElse(sc.Apply, sc.Preview)).Status.FinishedAt.Time
	s.clock.now = began.Add(pause - time.Second)
	if early := in(s, s.look(cr.Name), environment); early.Attempt != sc.Attempt {
		s.Fatalf("it was tried again a second early")
	}
	s.clock.now = began.Add(pause)
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func TestAPauseGrowsWithTheFailures(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev"))
	for _, pause := range []time.Duration{10 * time.Second, 30 * time.Second, 90 * time.Second, 270 * time.Second, 5 * time.Minute, 5 * time.Minute} {
		s.ends(in(t, s.changeRequest("first"), "dev").Preview, v1alpha1.RunFailed, retryable)
		s.paused(s.look("first"), "dev", "The preview failed: It is Failed.", pause)
		s.look("first")
	}
	if n := len(s.runs(v1alpha1.Preview)); n != 7 {
		t.Errorf("%d previews, want 7", n)
	}
}

func TestTheNextLookIsInTime(t *testing.T) {
	s := newScene(t)
	s.ends(in(t, s.propose("first", to("dev")), "dev").Preview, v1alpha1.RunFailed, retryable)
	s.look("first")
	result, err := s.reconciler.Reconcile(t.Context(), s.request("first"))
	if err != nil {
		t.Fatal(err)
	}
	if result.RequeueAfter <= 0 || result.RequeueAfter > 10*time.Second {
		t.Errorf("it looks again after %s, the pause is 10s", result.RequeueAfter)
	}
}

func TestHowAnApplyMayEnd(t *testing.T) {
	for name, test := range map[string]struct {
		phase   v1alpha1.RunPhase
		edits   []func(*v1alpha1.RunStatus)
		message string
		final   bool
	}{
		"it fails":                          {v1alpha1.RunFailed, nil, "The apply failed: It is Failed.", true},
		"it fails, through no fault of its": {v1alpha1.RunFailed, []func(*v1alpha1.RunStatus){retryable}, "The apply failed: It is Failed.", false},
		"it is interrupted":                 {v1alpha1.RunInterrupted, nil, "The apply was cut short: It is Interrupted.", false},
		"its runner dies":                   {v1alpha1.RunLost, []func(*v1alpha1.RunStatus){retryable}, "The apply was cut short: It is Lost.", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := atReview(t)
			first := in(t, s.approved("first", "test"), "test")
			s.ends(first.Apply, test.phase, test.edits...)
			cr := s.look("first")
			if test.final {
				want := []string{"Failed", "dev Applied, test Failed", "test: " + test.message}
				if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Progress, cr.Status.Message}); diff != "" {
					t.Error(diff)
				}
				return
			}
			s.paused(cr, "test", test.message, 10*time.Second)
			sc := in(t, s.look("first"), "test")
			if sc.Phase != v1alpha1.StackApplying || sc.Apply == first.Apply || sc.Preview != first.Preview || sc.ApplyAttempt != 2 {
				t.Errorf("got %+v, want a second apply of the same plan", sc)
			}
			wantUp := s.run(first.Apply).Spec
			wantUp.Attempt = 2
			if diff := cmp.Diff(wantUp, s.run(sc.Apply).Spec); diff != "" {
				t.Error(diff)
			}
			// The next pause is longer, and the plan is still the one that was signed.
			s.ends(sc.Apply, test.phase, test.edits...)
			s.paused(s.look("first"), "test", test.message, 30*time.Second)
			s.look("first")
			if cr := s.applied("first", "test"); cr.Status.Phase != v1alpha1.ChangeApplied {
				t.Errorf("phase %s after the third apply succeeded", cr.Status.Phase)
			}
		})
	}
}

// Nothing was touched: a new plan is made at once, and it says what differed.
func TestAnApplyThatDiverges(t *testing.T) {
	s := atReview(t)
	moved := []v1alpha1.Difference{{What: "state", Detail: "somebody else was there"}}
	first := in(t, s.approved("first", "test"), "test")
	s.ends(first.Apply, v1alpha1.RunDiverged, func(status *v1alpha1.RunStatus) { status.Differences = moved })
	sc := in(t, s.look("first"), "test")
	if sc.Phase != v1alpha1.StackPreviewing || sc.Preview == first.Preview || sc.Approval != nil || sc.Plan != nil || sc.Apply != "" {
		t.Errorf("got %+v, want a new preview", sc)
	}
	if diff := cmp.Diff("Nothing was applied: the world is not what it was when the plan was made. A new plan is being made.", sc.Message); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(moved, sc.Differences); diff != "" {
		t.Error(diff)
	}
	// A plan that comes out the same keeps its signatures: they name its digest.
	again := in(t, s.previewed("first"), "test")
	if again.Phase != v1alpha1.StackApplying || again.Apply == first.Apply {
		t.Errorf("the same plan: phase %s, apply %s", again.Phase, again.Apply)
	}
}

func TestAnotherPlanAfterADivergenceNeedsAnotherSignature(t *testing.T) {
	s := atReview(t)
	s.ends(in(t, s.approved("first", "test"), "test").Apply, v1alpha1.RunDiverged)
	s.look("first")
	other := "sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	cr := s.previewed("first", func(status *v1alpha1.RunStatus) { status.PlanDigest = other })
	if diff := cmp.Diff(v1alpha1.StackInReview, in(t, cr, "test").Phase); diff != "" {
		t.Fatal(diff)
	}
	if n := len(s.runs(v1alpha1.Up)); n != 2 {
		t.Errorf("%d applies, want the one of dev and the one that diverged", n)
	}
	if sc := in(t, s.approved("first", "test"), "test"); sc.Phase != v1alpha1.StackApplying {
		t.Errorf("phase %s after the new plan was signed", sc.Phase)
	}
}

func TestARunThatIsGoneIsMadeAgain(t *testing.T) {
	s := atReview(t)
	sc := in(t, s.approved("first", "test"), "test")
	if err := s.controller.Delete(t.Context(), s.run(sc.Apply)); err != nil {
		t.Fatal(err)
	}
	again := in(t, s.look("first"), "test")
	if again.Phase != v1alpha1.StackPreviewing || again.Message != "The record of the apply is gone; the state is read again." {
		t.Errorf("after the apply's: %s, %q", again.Phase, again.Message)
	}
	if err := s.controller.Delete(t.Context(), s.run(again.Preview)); err != nil {
		t.Fatal(err)
	}
	last := in(t, s.look("first"), "test")
	if last.Phase != v1alpha1.StackPreviewing || last.Preview == again.Preview || last.Message != "The record of the preview is gone; it is made again." {
		t.Errorf("after the preview's: %s, %q", last.Phase, last.Message)
	}
}

// A controller that dies after it has created a Run, and before it has said so,
// does not start a second one.
func TestACrashDoesNotStartARunTwice(t *testing.T) {
	s := newScene(t)
	crash := errors.New("crash")
	crashing := *s.reconciler
	crashing.Client = interceptor.NewClient(cluster.Controller(t), interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return crash
		},
	})
	for _, operation := range []v1alpha1.Operation{v1alpha1.Preview, v1alpha1.Up} {
		if operation == v1alpha1.Preview {
			cr := &v1alpha1.ChangeRequest{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "first"},
				Spec:       v1alpha1.ChangeRequestSpec{Service: "orders", Program: content("a")},
			}
			to("dev")(&cr.Spec)
			if err := cluster.As(t, "ana", "developer").Create(t.Context(), cr); err != nil {
				t.Fatal(err)
			}
		} else {
			s.ends(in(t, s.changeRequest("first"), "dev").Preview, v1alpha1.RunSucceeded)
		}
		for range 3 {
			if _, err := crashing.Reconcile(t.Context(), s.request("first")); !errors.Is(err, crash) {
				t.Fatalf("got %v, want the crash", err)
			}
		}
		s.look("first")
		if n := len(s.runs(operation)); n != 1 {
			t.Errorf("%d runs of operation %s, want 1", n, operation)
		}
	}
	if diff := cmp.Diff("Applied: dev Applied", string(s.applied("first", "dev").Status.Phase)+": "+s.changeRequest("first").Status.Progress); diff != "" {
		t.Error(diff)
	}
}

func TestAWaitingRunTellsTheChangeWhy(t *testing.T) {
	s := newScene(t)
	preview := in(t, s.propose("first", to("dev")), "dev").Preview
	run := s.run(preview)
	run.Status = v1alpha1.RunStatus{Phase: v1alpha1.RunPending, Waiting: &v1alpha1.Waiting{Kind: v1alpha1.WaitQueue, Message: "All 3 workers are busy.", Who: "nobody"}}
	if err := s.controller.Status().Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	got := in(t, s.look("first"), "dev").Waiting
	if got == nil || got.Kind != v1alpha1.WaitQueue || got.Message != "All 3 workers are busy." {
		t.Errorf("got %+v", got)
	}
}
