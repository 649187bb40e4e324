package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/towpath-dev/towpath/controller/runner"
)

// process is a process of one of the portal's runs.
type process struct {
	pid  int
	name string
}

// runProcesses are the processes of all runs of the portal: those with a run's
// marker whose environment names a folder of this portal.
func (p *portal) runProcesses(t *testing.T) []process {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err != nil || !bytes.Contains(environ, []byte(runner.RunMarker+"=")) || !bytes.Contains(environ, []byte(p.Dir+"/")) {
			continue // it has ended, or is somebody else's
		}
		name, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "comm"))
		if err == nil {
			found = append(found, process{pid, strings.TrimSpace(string(name))})
		}
	}
	return found
}

// killRuns kills every process of every run, as kill -9 does.
func (p *portal) killRuns(t *testing.T) {
	t.Helper()
	for {
		left := p.runProcesses(t)
		if len(left) == 0 {
			return
		}
		for _, process := range left {
			_ = syscall.Kill(process.pid, syscall.SIGKILL) // one that has ended is as good
		}
	}
}

// checkNothingLeft fails the test if a process of a run, or a lock of the engine,
// outlives what it was for.
func (p *portal) checkNothingLeft(t *testing.T) {
	t.Helper()
	if left := p.runProcesses(t); len(left) > 0 {
		t.Errorf("processes of runs are left: %+v", left)
	}
	states := 0
	err := filepath.WalkDir(filepath.Join(p.Dir, "state"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.Contains(path, "/.pulumi/locks/") {
			t.Errorf("a lock is left: %s", path)
		}
		if strings.Contains(path, "/.pulumi/stacks/") {
			states++
		}
		return nil
	})
	if err != nil || states == 0 {
		t.Errorf("read %d files of the state: %v", states, err)
	}
}

// memory is the resident memory of the portal's own process, in MiB.
func (p *portal) memory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID()), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib >> 10
		}
	}
	t.Fatal("the kernel does not tell how much memory the portal has")
	return 0
}
