package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/towpath-dev/towpath/controller/runner"
	"github.com/towpath-dev/towpath/controller/runner/runnertest"
)

// TestMain makes this binary its own runner.
func TestMain(m *testing.M) {
	if os.Getenv(runner.RunMarker) == "" {
		os.Exit(m.Run())
	}
	if err := runnertest.Play(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const uid = "0f0f0f0f-1111-2222-3333-444444444444"

// launcher starts this binary as the runner and leaves nothing behind.
func launcher(tb testing.TB) runner.Launcher {
	tb.Helper()
	return launcherIn(tb, filepath.Join(tb.TempDir(), "runs"))
}

func launcherIn(tb testing.TB, dir string) *runner.ProcessLauncher {
	tb.Helper()
	program, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	l := &runner.ProcessLauncher{Runner: program, Dir: dir}
	ctx := context.WithoutCancel(tb.Context())
	tb.Cleanup(func() {
		left, err := l.Runs(ctx)
		if err != nil {
			tb.Error(err)
		}
		for _, uid := range left {
			if _, err := l.Sweep(ctx, uid); err != nil {
				tb.Error(err)
			}
		}
	})
	return l
}

// pid is the process of a run's runner, as it says itself.
func pid(tb testing.TB, l runner.Launcher, uid string) int {
	tb.Helper()
	seen := runnertest.Await(tb, l, uid, func(o runner.Observation) bool { return bytes.Contains(o.Stream, []byte("\n")) })
	first, _, _ := bytes.Cut(seen.Stream, []byte("\n"))
	var line runner.Line
	if err := json.Unmarshal(first, &line); err != nil || line.Start == nil {
		tb.Fatalf("the first line is %s: %v", first, err)
	}
	return line.Start.PID
}

func release(tb testing.TB, l runner.Launcher, uid string) {
	tb.Helper()
	if err := unix.Kill(pid(tb, l, uid), runnertest.Release); err != nil {
		tb.Fatal(err)
	}
}

func TestProcessLauncherKeepsTheContract(t *testing.T) {
	runnertest.Contract(t, launcher, release)
}

func TestFakeKeepsTheContract(t *testing.T) {
	runnertest.Contract(t,
		func(testing.TB) runner.Launcher { return &runnertest.Fake{} },
		func(_ testing.TB, l runner.Launcher, uid string) { l.(*runnertest.Fake).Release(uid) })
}

// A controller that starts after another has died finds the runner by its lock and
// its marker alone.
func TestAnotherLauncherTakesOver(t *testing.T) {
	dir := t.TempDir()
	before, after := launcherIn(t, dir), launcherIn(t, dir)
	job := runnertest.Job(t, uid, runnertest.Script{Then: runnertest.Wait})
	if err := before.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	first := pid(t, before, uid)
	if !runnertest.Observe(t, after, uid).Alive {
		t.Error("the other launcher takes a live runner for dead")
	}
	if err := after.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := after.Interrupt(t.Context(), uid); err != nil {
		t.Fatal(err)
	}
	runnertest.Await(t, after, uid, func(o runner.Observation) bool { return len(o.Log) == 1 })
	if second := pid(t, after, uid); second != first {
		t.Errorf("runner %d took the place of %d", second, first)
	}
	if err := unix.Kill(first, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, l := range []runner.Launcher{before, after} {
		seen := runnertest.Await(t, l, uid, func(o runner.Observation) bool { return !o.Alive })
		if !seen.Started || seen.Result != nil {
			t.Errorf("after the kill: %+v, want it started and without a result", seen)
		}
	}
}

func TestOfManyStartsAtOnceOneCounts(t *testing.T) {
	dir := t.TempDir()
	job := runnertest.Job(t, uid, runnertest.Script{Then: runnertest.Wait})
	var all sync.WaitGroup
	var l *runner.ProcessLauncher
	for range 8 {
		l = launcherIn(t, dir)
		all.Go(func() {
			if err := l.Start(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	pid(t, l, uid)
	if ended, err := l.Sweep(t.Context(), uid); err != nil || ended != 1 {
		t.Errorf("ended %d processes (%v), want 1", ended, err)
	}
}

// The runner gets nothing of the portal's environment, and nothing of the job
// stays on the disk.
func TestSecretsStayInMemory(t *testing.T) {
	const secret = "correct-horse-battery-staple"
	t.Setenv("PORTAL_SECRET", secret)
	dir := t.TempDir()
	l := launcherIn(t, dir)
	job := runnertest.Job(t, uid, runnertest.Script{LeavesProcess: true, Then: runnertest.Wait})
	job.Secrets = map[string]string{"password": secret}
	job.Kubeconfig = secret
	if err := l.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid(t, l, uid)) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for variable := range strings.SplitSeq(strings.TrimRight(string(environ), "\x00"), "\x00") {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"HOME", "PATH", runner.RunMarker}; !slices.Equal(want, names) {
		t.Errorf("the runner's environment has %v, want %v", names, want)
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s holds the secret", filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestARunnerThatCannotBeStarted(t *testing.T) {
	l := launcherIn(t, t.TempDir())
	l.Runner = filepath.Join(t.TempDir(), "none")
	err := l.Start(t.Context(), runnertest.Job(t, uid, runnertest.Script{}))
	if err == nil || !strings.Contains(err.Error(), "start the runner of run shop/run-0f0f") {
		t.Errorf("got %v", err)
	}
	seen := runnertest.Observe(t, l, uid)
	if !seen.Started || seen.Alive {
		t.Errorf("got %+v, want it claimed and dead, so that nobody starts it again", seen)
	}
}

// A run's UID becomes the name of a folder.
func TestOnlyAUIDNamesARun(t *testing.T) {
	l := launcherIn(t, t.TempDir())
	for _, uid := range []string{"", "..", "../../etc", "a/b", "ABCDEFGH-1", "short"} {
		if err := l.Start(t.Context(), runner.Job{RunUID: uid}); err == nil {
			t.Errorf("%q was started", uid)
		}
		if _, err := l.Observe(t.Context(), uid); err == nil {
			t.Errorf("%q was observed", uid)
		}
		if err := l.Interrupt(t.Context(), uid); err == nil {
			t.Errorf("%q was interrupted", uid)
		}
		if _, err := l.Sweep(t.Context(), uid); err == nil {
			t.Errorf("%q was swept", uid)
		}
		if err := l.Remove(t.Context(), uid); err == nil {
			t.Errorf("%q was removed", uid)
		}
	}
}
