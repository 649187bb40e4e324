package process_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/process"
	"github.com/towpath-dev/towpath/controller/runner"
)

// TestMain lets the test program stand for a runner, whose whole process the
// functions under test act on.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_RUNNER") != "" {
		os.Exit(asRunner())
	}
	os.Exit(m.Run())
}

// asRunner starts a shell that leaves a process behind in a session of its own,
// prints that process's number and ends all its descendants.
func asRunner() int {
	if err := process.AdoptOrphans(); err != nil {
		return 2
	}
	shell := exec.CommandContext(context.Background(), "sh", "-c", "setsid sleep 1000 >/dev/null & echo $!")
	shell.Stdout = os.Stdout
	if err := shell.Run(); err != nil {
		return 3
	}
	if err := process.EndDescendants(); err != nil {
		return 4
	}
	return 0
}

func TestEndDescendantsReachesOrphansInOtherSessions(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_AS_RUNNER=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the runner ended with %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, 0); err != unix.ESRCH {
		t.Errorf("process %d still lives: %v", pid, err)
	}
}

func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := process.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process.Lock(dir); err == nil {
		t.Error("a second runner got the lock")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := process.Lock(dir); err != nil {
		t.Errorf("the lock outlives its holder: %v", err)
	}
}

func TestEndLeftovers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		folder bool
		locked bool
		ended  bool
	}{
		"of a dead run are ended":                    {folder: true, ended: true},
		"of a live run are left":                     {folder: true, locked: true},
		"of another installation's run are left too": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs, uid := t.TempDir(), "run-"+strconv.Itoa(os.Getpid())
			if test.folder {
				dir := filepath.Join(runs, uid)
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				lock, err := process.Lock(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer lock.Close()
				if !test.locked {
					_ = lock.Close()
				}
			}
			sleeper := startMarked(t, uid)
			ended, err := process.EndLeftovers(runs)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(ended) == 1 && ended[0] == sleeper.Process.Pid; got != test.ended {
				t.Errorf("ended %v, want process %d ended: %v", ended, sleeper.Process.Pid, test.ended)
			}
		})
	}
}

// startMarked starts a process that carries a run's mark.
func startMarked(t *testing.T, uid string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo up; exec sleep 1000")
	cmd.Env = append(os.Environ(), runner.RunMarker+"="+uid)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return cmd
}
