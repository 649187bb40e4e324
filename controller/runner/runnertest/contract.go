package runnertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

// uid is of no run in particular.
const uid = "11111111-2222-3333-4444-555555555555"

// Contract is what every launcher does. release lets a runner that waits go on to
// its last lines.
func Contract(t *testing.T, launcher func(testing.TB) runner.Launcher, release func(testing.TB, runner.Launcher, string)) {
	for name, clause := range map[string]func(*testing.T, runner.Launcher, func(testing.TB, runner.Launcher, string)){
		"nothing is known of a run that was not started":              knowsNothing,
		"all that a runner says is seen":                              seesAll,
		"a run is started once":                                       startsOnce,
		"a runner that dies leaves no result":                         seesDeath,
		"a runner is interrupted once, however often it is asked for": interruptsOnce,
		"a sweep ends what a dead runner left at work":                sweepsLeftovers,
		"a sweep ends a runner and what it left":                      sweepsRunner,
		"a sweep ends nothing of another run":                         sweepsNothingElse,
		"what was left behind is listed until it is removed":          listsUntilRemoved,
	} {
		t.Run(name, func(t *testing.T) { clause(t, launcher(t), release) })
	}
}

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	step   = v1alpha1.PlanStep{Kind: v1alpha1.StepCreate, URN: "urn:a", Type: "t", Name: "a"}
	result = &runner.Result{Phase: v1alpha1.RunSucceeded, Message: "Done.", PlanDigest: "sha256:plan"}
	lines  = []runner.Line{
		{Time: noon, Heartbeat: &runner.Heartbeat{Doing: "previewing"}},
		{Time: noon, Log: &runner.Log{Severity: "warning", Text: "Careful."}},
		{Time: noon, Step: &step},
		{Time: noon.Add(time.Minute), Result: result},
	}
)

func knowsNothing(t *testing.T, l runner.Launcher, _ func(testing.TB, runner.Launcher, string)) {
	if diff := cmp.Diff(runner.Observation{}, Observe(t, l, uid)); diff != "" {
		t.Error(diff)
	}
	if err := l.Interrupt(t.Context(), uid); err != nil {
		t.Errorf("interrupt: %v", err)
	}
	if ended, err := l.Sweep(t.Context(), uid); err != nil || ended != 0 {
		t.Errorf("sweep: ended %d, %v", ended, err)
	}
	if err := l.Remove(t.Context(), uid); err != nil {
		t.Errorf("remove: %v", err)
	}
	if diff := cmp.Diff([]string(nil), runs(t, l)); diff != "" {
		t.Error(diff)
	}
}

func seesAll(t *testing.T, l runner.Launcher, _ func(testing.TB, runner.Launcher, string)) {
	start(t, l, Job(t, uid, Script{Lines: lines, Then: Exit}))
	got := Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
	got.Stream = nil
	want := runner.Observation{
		Started: true, Heartbeat: noon.Add(time.Minute), Doing: "previewing", Steps: []v1alpha1.PlanStep{step}, Result: result,
		Log: []v1alpha1.LogLine{{Time: metav1.NewTime(noon), Severity: "warning", Text: "Careful."}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func startsOnce(t *testing.T, l runner.Launcher, release func(testing.TB, runner.Launcher, string)) {
	job := Job(t, uid, Script{Lines: lines[2:3], Then: Wait, Last: lines[3:]})
	start(t, l, job)
	start(t, l, job)
	Await(t, l, uid, func(o runner.Observation) bool { return len(o.Steps) == 1 })
	release(t, l, uid)
	Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
	start(t, l, job)
	got := Observe(t, l, uid)
	if got.Alive || len(got.Steps) != 1 || got.Result == nil {
		t.Errorf("a second runner was at work: %+v", got)
	}
}

func seesDeath(t *testing.T, l runner.Launcher, _ func(testing.TB, runner.Launcher, string)) {
	start(t, l, Job(t, uid, Script{Lines: lines[:3], Then: Die}))
	got := Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
	if !got.Started || got.Result != nil || len(got.Steps) != 1 {
		t.Errorf("got %+v, want it started, with one step and no result", got)
	}
}

func interruptsOnce(t *testing.T, l runner.Launcher, release func(testing.TB, runner.Launcher, string)) {
	start(t, l, Job(t, uid, Script{Then: Wait, Last: lines[3:]}))
	Await(t, l, uid, func(o runner.Observation) bool { return len(o.Stream) > 0 })
	interrupt := func() {
		if err := l.Interrupt(t.Context(), uid); err != nil {
			t.Fatal(err)
		}
	}
	interrupt()
	Await(t, l, uid, func(o runner.Observation) bool { return len(o.Log) > 0 })
	interrupt()
	release(t, l, uid)
	got := Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
	if len(got.Log) != 1 || got.Log[0].Text != interrupted || got.Result == nil {
		t.Errorf("got log %v and result %v, want one interrupt and a result", got.Log, got.Result)
	}
}

func sweepsLeftovers(t *testing.T, l runner.Launcher, _ func(testing.TB, runner.Launcher, string)) {
	start(t, l, Job(t, uid, Script{LeavesProcess: true, Then: Die}))
	Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
	if ended := sweep(t, l, uid); ended != 1 {
		t.Errorf("ended %d processes, want 1", ended)
	}
	if ended := sweep(t, l, uid); ended != 0 {
		t.Errorf("ended %d processes more", ended)
	}
}

func sweepsRunner(t *testing.T, l runner.Launcher, _ func(testing.TB, runner.Launcher, string)) {
	start(t, l, Job(t, uid, Script{Lines: lines[:3], LeavesProcess: true, Then: Wait}))
	Await(t, l, uid, func(o runner.Observation) bool { return len(o.Steps) == 1 })
	if ended := sweep(t, l, uid); ended != 2 {
		t.Errorf("ended %d processes, want 2", ended)
	}
	got := Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
	if !got.Started || got.Result != nil {
		t.Errorf("got %+v, want it started and without a result", got)
	}
}

func sweepsNothingElse(t *testing.T, l runner.Launcher, _ func(testing.TB, runner.Launcher, string)) {
	other := "99999999-2222-3333-4444-555555555555"
	start(t, l, Job(t, uid, Script{Lines: lines[:3], Then: Wait}))
	Await(t, l, uid, func(o runner.Observation) bool { return len(o.Steps) == 1 })
	if ended := sweep(t, l, other); ended != 0 {
		t.Errorf("ended %d processes", ended)
	}
	if !Observe(t, l, uid).Alive {
		t.Error("the runner is dead")
	}
	sweep(t, l, uid)
}

func listsUntilRemoved(t *testing.T, l runner.Launcher, _ func(testing.TB, runner.Launcher, string)) {
	start(t, l, Job(t, uid, Script{Lines: lines, Then: Exit}))
	Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
	if diff := cmp.Diff([]string{uid}, runs(t, l)); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if err := l.Remove(t.Context(), uid); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string(nil), runs(t, l)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(runner.Observation{}, Observe(t, l, uid)); diff != "" {
		t.Error(diff)
	}
}

// Observe returns how a run stands.
func Observe(tb testing.TB, l runner.Launcher, uid string) runner.Observation {
	tb.Helper()
	seen, err := l.Observe(tb.Context(), uid)
	if err != nil {
		tb.Fatal(err)
	}
	return seen
}

// Await waits until a run stands as asked for.
func Await(tb testing.TB, l runner.Launcher, uid string, as func(runner.Observation) bool) runner.Observation {
	tb.Helper()
	var seen runner.Observation
	err := wait.PollUntilContextTimeout(tb.Context(), 5*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (_ bool, err error) {
		seen, err = l.Observe(ctx, uid)
		return err == nil && as(seen), err
	})
	if err != nil {
		tb.Fatalf("the run does not come to stand as it should: %v\nstarted %t, alive %t\n%s", err, seen.Started, seen.Alive, seen.Stream)
	}
	return seen
}

func start(tb testing.TB, l runner.Launcher, job runner.Job) {
	tb.Helper()
	if err := l.Start(tb.Context(), job); err != nil {
		tb.Fatal(err)
	}
}

func sweep(tb testing.TB, l runner.Launcher, uid string) int {
	tb.Helper()
	ended, err := l.Sweep(tb.Context(), uid)
	if err != nil {
		tb.Fatal(err)
	}
	return ended
}

func runs(tb testing.TB, l runner.Launcher) []string {
	tb.Helper()
	all, err := l.Runs(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if len(all) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(all))
}
