package run

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

func TestARunFromItsStartToItsEnd(t *testing.T) {
	s := newScene(t)
	uid := string(s.wants("first").UID)
	run := s.look("first")
	if diff := cmp.Diff("Running: Starting", stands(run)); diff != "" {
		t.Fatal(diff)
	}
	now := metav1.NewTime(s.clock.now)
	if run.Status.Holder != "one" || run.Status.Epoch != 1 || !run.Status.StartedAt.Equal(&now) || !run.Status.Heartbeat.Equal(&now) {
		t.Errorf("held by %q in epoch %d, started %v, heartbeat %v", run.Status.Holder, run.Status.Epoch, run.Status.StartedAt, run.Status.Heartbeat)
	}

	step := v1alpha1.PlanStep{Kind: v1alpha1.StepUpdate, URN: "urn:a", Type: "t", Name: "a"}
	later := s.clock.now.Add(time.Minute)
	s.launcher.Say(uid,
		runner.Line{Time: later, Log: &runner.Log{Severity: "info", Text: "Reading."}},
		runner.Line{Time: later, Step: &step},
		runner.Line{Time: later, Heartbeat: &runner.Heartbeat{Doing: "previewing"}})
	run = s.look("first")
	if diff := cmp.Diff("Running: Previewing", stands(run)); diff != "" {
		t.Error(diff)
	}
	if run.Status.Log == nil || len(run.Status.Log.Lines) != 1 || run.Status.Log.Lines[0].Text != "Reading." {
		t.Errorf("the log: %+v", run.Status.Log)
	}
	if !run.Status.Heartbeat.Time.Equal(later) {
		t.Errorf("heartbeat %v, want %v", run.Status.Heartbeat, later)
	}

	result := runner.Result{
		Phase: v1alpha1.RunSucceeded, Message: "Previewed.", PlanDigest: "sha256:plan", EffectDigest: "sha256:effect",
		Summary: &v1alpha1.PlanSummary{Update: 1, Text: "1 to update"}, Inputs: map[string]string{"program": "sha256:p", "state": "sha256:s"},
		State: map[string]string{"urn:a": "sha256:a"}, Outputs: map[string]apiextensionsv1.JSON{"host": {Raw: []byte(`"[secret]"`)}},
		Objects: []v1alpha1.ObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}},
	}
	s.launcher.Say(uid, runner.Line{Time: later, Result: &result})
	if run := s.look("first"); run.Status.Phase != v1alpha1.RunRunning {
		t.Errorf("phase %s while the runner still lives", run.Status.Phase)
	}
	s.launcher.Release(uid)
	s.clock.now = later
	run = s.look("first")
	ended := metav1.NewTime(later)
	want := v1alpha1.RunStatus{
		Phase: v1alpha1.RunSucceeded, Message: "Previewed.", PlanDigest: result.PlanDigest, EffectDigest: result.EffectDigest,
		Summary: result.Summary, Inputs: result.Inputs, Outputs: result.Outputs, Objects: result.Objects,
		Plan: &v1alpha1.RunPlan{Steps: []v1alpha1.PlanStep{step}}, Log: run.Status.Log, Artefacts: run.Status.Artefacts,
		Holder: "one", Epoch: 1, StartedAt: &now, Heartbeat: run.Status.Heartbeat, FinishedAt: &ended,
	}
	if diff := cmp.Diff(want, run.Status); diff != "" {
		t.Error(diff)
	}

	var kept wholePlan
	text, err := s.blobs.ReadAll(t.Context(), run.Status.Artefacts.Plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.State, kept.State); diff != "" || len(kept.Steps) != 1 {
		t.Errorf("the plan that is kept: %d steps\n%s", len(kept.Steps), diff)
	}
	stream, err := s.blobs.ReadAll(t.Context(), run.Status.Artefacts.Log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(stream), "\n"); n != 5 {
		t.Errorf("the stream that is kept has %d lines, want all 5:\n%s", n, stream)
	}

	s.look("first")
	if left, err := s.launcher.Runs(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestHowARunMayEnd(t *testing.T) {
	const (
		nothing = "The runner died before it had a result. Nothing was being changed."
		some    = "The runner died before it had a result. Some of the steps may have been applied; the state is read again before anything else is done."
	)
	result := func(phase v1alpha1.RunPhase, retryable bool) func(*scene, string) {
		return func(s *scene, uid string) {
			s.launcher.Say(uid, runner.Line{Result: &runner.Result{Phase: phase, Message: "So it is.", Retryable: retryable}})
			s.launcher.Release(uid)
		}
	}
	kill := func(s *scene, uid string) { s.launcher.Kill(uid) }
	gone := func(s *scene, uid string) {
		if err := s.launcher.Remove(s.Context(), uid); err != nil {
			s.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		operation v1alpha1.Operation
		how       func(*scene, string)
		want      string
	}{
		"it succeeds":                     {v1alpha1.Up, result(v1alpha1.RunSucceeded, false), "Succeeded: So it is."},
		"it fails":                        {v1alpha1.Up, result(v1alpha1.RunFailed, false), "Failed: So it is."},
		"it fails for now":                {v1alpha1.Preview, result(v1alpha1.RunFailed, true), "Failed: So it is. It is tried again."},
		"it diverges":                     {v1alpha1.Up, result(v1alpha1.RunDiverged, false), "Diverged: So it is."},
		"it is interrupted":               {v1alpha1.Up, result(v1alpha1.RunInterrupted, false), "Interrupted: So it is."},
		"its runner dies in a preview":    {v1alpha1.Preview, kill, "Lost: " + nothing + " It is tried again."},
		"its runner dies in an apply":     {v1alpha1.Up, kill, "Lost: " + some + " It is tried again."},
		"its folder is gone in a preview": {v1alpha1.Preview, gone, "Lost: " + nothing + " It is tried again."},
		"its folder is gone in an apply":  {v1alpha1.Up, gone, "Lost: " + some + " It is tried again."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			uid := string(s.wants("first", doing(test.operation)).UID)
			s.look("first")
			test.how(s, uid)
			run := s.look("first")
			if diff := cmp.Diff(test.want, stands(run)); diff != "" {
				t.Error(diff)
			}
			if run.Status.FinishedAt == nil {
				t.Error("it does not say when it ended")
			}
			s.look("first")
			if n := len(s.launcher.Jobs()); n != 1 {
				t.Errorf("%d runners were started", n)
			}
		})
	}
}

// A controller that dies after it has written that a run starts, and before it has
// started it, leaves a run that is found lost.
func TestARunIsNeverStartedTwice(t *testing.T) {
	s := newScene(t)
	run := s.wants("first")
	now := metav1.NewTime(s.clock.now)
	run.Status = v1alpha1.RunStatus{Phase: v1alpha1.RunRunning, StartedAt: &now, Heartbeat: &now, Holder: "another"}
	if err := s.controller.Status().Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if run := s.look("first"); run.Status.Phase != v1alpha1.RunLost {
		t.Errorf("it is %s", stands(run))
	}
	if n := len(s.launcher.Jobs()); n != 0 {
		t.Errorf("%d runners were started", n)
	}
}

func TestAnotherControllerTakesOver(t *testing.T) {
	s := newScene(t)
	uid := string(s.wants("first").UID)
	s.look("first")
	s.reconciler.Holder = "two"
	run := s.look("first")
	if run.Status.Holder != "two" || run.Status.Epoch != 2 || run.Status.Phase != v1alpha1.RunRunning {
		t.Errorf("held by %q in epoch %d: %s", run.Status.Holder, run.Status.Epoch, stands(run))
	}
	s.launcher.Say(uid, runner.Line{Result: &runner.Result{Phase: v1alpha1.RunSucceeded, Message: "Done."}})
	s.launcher.Release(uid)
	if diff := cmp.Diff("Succeeded: Done.", stands(s.look("first"))); diff != "" {
		t.Error(diff)
	}
	if n := len(s.launcher.Jobs()); n != 1 {
		t.Errorf("%d runners were started", n)
	}
}

func TestOneRunAtATimePerPulumiStack(t *testing.T) {
	s := newScene(t)
	first, second := s.wants("first", onKey(s.namespace+".k")), s.wants("second", onKey(s.namespace+".k"))
	s.wants("third")
	s.look("first")
	waiting := s.look("second")
	if waiting.Status.Phase != v1alpha1.RunPending || waiting.Status.Waiting == nil || waiting.Status.Waiting.Kind != v1alpha1.WaitLock {
		t.Errorf("the second: %s, %+v", stands(waiting), waiting.Status.Waiting)
	}
	if diff := cmp.Diff("Run first is at work on the same Pulumi stack; one at a time.", waiting.Status.Waiting.Message); diff != "" {
		t.Error(diff)
	}
	since := waiting.Status.Waiting.Since
	s.clock.now = s.clock.now.Add(time.Minute)
	if diff := cmp.Diff(since, s.look("second").Status.Waiting.Since); diff != "" {
		t.Errorf("the wait begins anew with every look:\n%s", diff)
	}
	if third := s.look("third"); third.Status.Phase != v1alpha1.RunRunning {
		t.Errorf("one of another stack: %s", stands(third))
	}
	s.launcher.Say(string(first.UID), runner.Line{Result: &runner.Result{Phase: v1alpha1.RunSucceeded, Message: "Done."}})
	s.launcher.Release(string(first.UID))
	s.look("first")
	if run := s.look("second"); run.Status.Phase != v1alpha1.RunRunning || run.Status.Waiting != nil {
		t.Errorf("the second, after the first: %s, %+v", stands(run), run.Status.Waiting)
	}
	if jobs := s.launcher.Jobs(); len(jobs) != 3 || jobs[2].RunUID != string(second.UID) {
		t.Errorf("%d runners were started", len(jobs))
	}
}

func TestWorkersAreBounded(t *testing.T) {
	s := newScene(t)
	s.reconciler.Workers = 0 // other tests' runs are at work in this cluster
	s.wants("first")
	result, err := s.reconciler.Reconcile(t.Context(), s.request("first"))
	if err != nil || result.RequeueAfter <= 0 {
		t.Errorf("it looks again after %s, %v", result.RequeueAfter, err)
	}
	run := s.run("first")
	if run.Status.Waiting == nil || run.Status.Waiting.Kind != v1alpha1.WaitQueue || len(s.launcher.Jobs()) != 0 {
		t.Errorf("%s, %+v", stands(run), run.Status.Waiting)
	}
}

func TestCancel(t *testing.T) {
	s := newScene(t)
	s.wants("early")
	s.cancel("early")
	if diff := cmp.Diff("Interrupted: It was cancelled before it began.", stands(s.look("early"))); diff != "" {
		t.Error(diff)
	}
	if n := len(s.launcher.Jobs()); n != 0 {
		t.Errorf("%d runners were started", n)
	}

	uid := string(s.wants("late").UID)
	s.look("late")
	s.cancel("late")
	for range 3 { // each look asks again
		if run := s.look("late"); run.Status.Phase != v1alpha1.RunRunning {
			t.Fatalf("%s, though the runner is still ending its work", stands(run))
		}
	}
	seen, err := s.launcher.Observe(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.Log) != 1 {
		t.Errorf("the runner was interrupted %d times", len(seen.Log))
	}
	s.launcher.Say(uid, runner.Line{Result: &runner.Result{Phase: v1alpha1.RunInterrupted, Message: "Stopped."}})
	s.launcher.Release(uid)
	if diff := cmp.Diff("Interrupted: Stopped.", stands(s.look("late"))); diff != "" {
		t.Error(diff)
	}
}

func TestARunnerThatCannotBeStarted(t *testing.T) {
	s := newScene(t)
	s.launcher.Refuses = errors.New("fork: no memory left for secret-token")
	s.wants("first")
	want := "Failed: The runner could not be started; the platform team finds the cause in the log. It is tried again."
	if diff := cmp.Diff(want, stands(s.look("first"))); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatIsDeletedIsNoError(t *testing.T) {
	s := newScene(t)
	uid := string(s.wants("first").UID)
	s.look("first")
	if err := s.controller.Delete(t.Context(), s.run("first")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.reconciler.Reconcile(t.Context(), s.request("first")); err != nil {
		t.Error(err)
	}
	kept := s.wants("second")
	s.look("second")
	if err := s.reconciler.sweepOrphans(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := s.launcher.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{string(kept.UID)}, left); diff != "" {
		t.Errorf("the deleted run (%s) is to be swept, the other is to stay:\n%s", uid, diff)
	}
	seen, err := s.launcher.Observe(t.Context(), string(kept.UID))
	if err != nil || !seen.Alive {
		t.Errorf("the runner of the other: %+v, %v", seen, err)
	}
}

func TestALongListOfObjectsIsCut(t *testing.T) {
	s := newScene(t)
	uid := string(s.wants("first").UID)
	s.look("first")
	result := runner.Result{Phase: v1alpha1.RunSucceeded, Message: "Done.", Objects: make([]v1alpha1.ObjectReference, maxObjects+1)}
	for i := range result.Objects {
		result.Objects[i] = v1alpha1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}
	}
	s.launcher.Say(uid, runner.Line{Result: &result})
	s.launcher.Release(uid)
	if n := len(s.look("first").Status.Objects); n != maxObjects {
		t.Errorf("%d objects in the status, want %d", n, maxObjects)
	}
}
