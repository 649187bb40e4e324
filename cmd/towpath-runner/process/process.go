// Package process keeps the promise that no process outlives its run: it makes
// the runner the reaper of everything that descends from it, ends what is left,
// and finds what a runner that was killed left behind. It works on Linux alone,
// and never signals a process that it cannot tell to be a run's.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/towpath-dev/towpath/controller/runner"
)

// AdoptOrphans makes this process the parent of every descendant whose own
// parent dies: plugins sit in process groups of their own, and nothing else
// would find them.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphaned processes: %w", err)
	}
	return nil
}

// ExitWithParent asks for SIGTERM when the parent ends. It fails if the parent
// has ended already, which the kernel would not tell.
func ExitWithParent(parent int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0); err != nil {
		return fmt.Errorf("ask for a signal at the parent's end: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("the parent process has ended already")
	}
	return nil
}

// Lock takes the lock that a runner holds on its run's folder while it lives. The
// kernel releases it, however the runner ends.
func Lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, runner.LockFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the run's lock: %w", err)
	}
	// Whoever asks whether this run has a runner holds the lock for an instant.
	deadline := time.Now().Add(lockPatience)
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s, which another runner may hold: %w", path, err)
		}
		time.Sleep(lockPatience / 50)
	}
}

// lockPatience bounds the wait for a lock that is only being looked at.
const lockPatience = time.Second

// EndDescendants kills every descendant and waits for its end. It must not run
// beside an exec.Cmd that is being waited for.
func EndDescendants() error {
	for {
		children, err := children()
		if err != nil {
			return err
		}
		for _, pid := range children {
			// One that has ended meanwhile is a zombie until we reap it below, so
			// its number cannot be somebody else's yet.
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		// Each death hands its children to us, the reaper, so there is nobody left
		// exactly when there is no child to wait for.
		switch _, err := unix.Wait4(-1, nil, 0, nil); {
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("wait for child processes: %w", err)
		}
	}
}

// children are the processes whose parent is this one.
func children() ([]int, error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	var pids []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, os.ErrNotExist) {
			continue // The thread has ended; its children are another's now.
		}
		if err != nil {
			return nil, fmt.Errorf("list child processes: %w", err)
		}
		for field := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("list child processes: %w", err)
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// leftoverPatience bounds the wait for killed leftovers to be gone.
const leftoverPatience = 10 * time.Second

// EndLeftovers kills what runners that are dead left running: processes marked
// with a run whose folder stands in runs and whose lock nobody holds. It says
// which it ended. Processes of live runs, and of other installations on this
// machine, are left alone.
func EndLeftovers(runs string) ([]int, error) {
	var ended []int
	for pid, uid := range marked() {
		if !isDead(runs, uid) {
			continue
		}
		gone, err := end(pid, uid)
		if err != nil {
			return ended, err
		}
		if gone {
			ended = append(ended, pid)
		}
	}
	return ended, nil
}

// marked gives the run of every process that carries the mark of one, save this.
func marked() map[int]string {
	found := map[int]string{}
	paths, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if uid := Run(pid); uid != "" {
			found[pid] = uid
		}
	}
	return found
}

// Run is the UID of the run that a process belongs to; "" if it belongs to none,
// is another user's, or is no more.
func Run(pid int) string {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		if uid, ok := bytes.CutPrefix(variable, []byte(runner.RunMarker+"=")); ok {
			return string(uid)
		}
	}
	return ""
}

// isDead reports whether a run has a folder here but no runner.
func isDead(runs, uid string) bool {
	if uid == "" || uid != filepath.Base(uid) {
		return false
	}
	file, err := os.OpenFile(filepath.Join(runs, uid, runner.LockFile), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}

// end kills a process of a run and waits until it is gone.
func end(pid int, uid string) (bool, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	// The number may have passed to another process before it was opened.
	if Run(pid) != uid {
		return false, nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return false, fmt.Errorf("kill process %d: %w", pid, err)
	}
	deadline := time.Now().Add(leftoverPatience)
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, int(time.Until(deadline).Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return false, fmt.Errorf("wait for process %d: %w", pid, err)
		case n == 0:
			return false, fmt.Errorf("process %d of run %s does not end", pid, uid)
		}
		return true, nil
	}
}
