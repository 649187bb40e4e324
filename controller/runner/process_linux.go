package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessLauncher runs each job in a process of its own on this machine.
type ProcessLauncher struct {
	// Runner is the towpath-runner binary.
	Runner string
	// Dir holds one folder per run.
	Dir string
	// ExitWithParent makes a runner interrupt its work when this process dies: for
	// an embedded cluster, which dies with it too.
	ExitWithParent bool

	mu       sync.Mutex
	children map[string]bool // runs whose process this launcher started and that has not ended
}

var _ Launcher = (*ProcessLauncher)(nil)

const (
	// startedFile marks a folder whose runner was started; it is made before the
	// process, so that a crash in between cannot start two.
	startedFile = "started"
	// interruptedFile marks a folder whose runner was interrupted. A second signal
	// would make the runner kill the engine without waiting for it.
	interruptedFile = "interrupted"
)

// runUIDs are Kubernetes UIDs; they become folder names.
var runUID = regexp.MustCompile(`^[0-9a-f-]{8,64}$`)

func (l *ProcessLauncher) dir(uid string) (string, error) {
	if !runUID.MatchString(uid) {
		return "", fmt.Errorf("run UID %q is no UID", uid)
	}
	return filepath.Join(l.Dir, uid), nil
}

// Start implements Launcher.
func (l *ProcessLauncher) Start(ctx context.Context, job Job) error {
	dir, err := l.dir(job.RunUID)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of run %s/%s: %w", job.Namespace, job.Name, err)
	}
	claim, err := os.OpenFile(filepath.Join(dir, startedFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim run %s/%s: %w", job.Namespace, job.Name, err)
	}
	if err := claim.Close(); err != nil {
		return fmt.Errorf("claim run %s/%s: %w", job.Namespace, job.Name, err)
	}
	job.Dir = dir
	text, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("write the job of run %s/%s: %w", job.Namespace, job.Name, err)
	}
	return l.spawn(ctx, job, text)
}

func (l *ProcessLauncher) spawn(ctx context.Context, job Job, stdin []byte) error {
	output, err := os.OpenFile(filepath.Join(job.Dir, "runner.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of run %s/%s: %w", job.Namespace, job.Name, err)
	}
	defer output.Close()
	var args []string
	if l.ExitWithParent {
		args = append(args, "--exit-with-parent")
	}
	// The runner outlives the request that starts it, and this process too.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.Runner, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Dir = job.Dir
	// A clean environment: nothing of the portal's reaches a program's code.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + job.Dir, RunMarker + "=" + job.RunUID}
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}

	l.mu.Lock()
	defer l.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the runner of run %s/%s: %w", job.Namespace, job.Name, err)
	}
	if l.children == nil {
		l.children = map[string]bool{}
	}
	l.children[job.RunUID] = true
	go func() {
		_ = cmd.Wait() // the stream tells the result; this only reaps
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.children, job.RunUID)
	}()
	return nil
}

// Observe implements Launcher.
func (l *ProcessLauncher) Observe(_ context.Context, uid string) (Observation, error) {
	dir, err := l.dir(uid)
	if err != nil {
		return Observation{}, err
	}
	var o Observation
	if _, err := os.Stat(filepath.Join(dir, startedFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return o, nil
		}
		return o, fmt.Errorf("observe run %s: %w", uid, err)
	}
	o.Started = true
	// Alive is asked before the stream is read: a runner that ends in between has
	// then written its result.
	o.Alive, err = l.alive(dir, uid)
	if err != nil {
		return o, fmt.Errorf("observe run %s: %w", uid, err)
	}
	stream, err := os.ReadFile(filepath.Join(dir, StreamFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, fmt.Errorf("read the stream of run %s: %w", uid, err)
	}
	o.read(stream)
	return o, nil
}

// alive reports whether the runner's process lives: it holds a lock on a file of
// its folder, and before it has taken that, this launcher knows its child.
func (l *ProcessLauncher) alive(dir, uid string) (bool, error) {
	l.mu.Lock()
	child := l.children[uid]
	l.mu.Unlock()
	if child {
		return true, nil
	}
	lock, err := os.Open(filepath.Join(dir, LockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	err = unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Interrupt implements Launcher.
func (l *ProcessLauncher) Interrupt(_ context.Context, uid string) error {
	dir, err := l.dir(uid)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, interruptedFile)); err == nil {
		return nil
	}
	var pid int
	stream, err := os.ReadFile(filepath.Join(dir, StreamFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("interrupt run %s: %w", uid, err)
	}
	if first, _, found := bytes.Cut(stream, []byte("\n")); found {
		var line Line
		if json.Unmarshal(first, &line) == nil && line.Start != nil {
			pid = line.Start.PID
		}
	}
	if pid <= 1 || !marked(pid, uid) {
		return nil // not there yet, or gone: the next look tells
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("interrupt run %s: %w", uid, err)
	}
	if err := os.WriteFile(filepath.Join(dir, interruptedFile), nil, 0o600); err != nil {
		return fmt.Errorf("interrupt run %s: %w", uid, err)
	}
	return nil
}

// Sweep implements Launcher.
func (l *ProcessLauncher) Sweep(ctx context.Context, uid string) (int, error) {
	if !runUID.MatchString(uid) {
		return 0, fmt.Errorf("run UID %q is no UID", uid)
	}
	ended := map[int]bool{}
	// Again until none is left: a process may have forked while we looked.
	for range 50 {
		found, err := markedProcesses(uid)
		if err != nil {
			return len(ended), fmt.Errorf("sweep run %s: %w", uid, err)
		}
		if len(found) == 0 {
			return len(ended), nil
		}
		for _, pid := range found {
			ended[pid] = true
			_ = unix.Kill(pid, unix.SIGKILL) // gone already is as good
		}
		select {
		case <-ctx.Done():
			return len(ended), ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return len(ended), fmt.Errorf("sweep run %s: processes do not end", uid)
}

// Runs implements Launcher.
func (l *ProcessLauncher) Runs(context.Context) ([]string, error) {
	entries, err := os.ReadDir(l.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var uids []string
	for _, entry := range entries {
		if runUID.MatchString(entry.Name()) {
			uids = append(uids, entry.Name())
		}
	}
	return uids, nil
}

// Remove implements Launcher.
func (l *ProcessLauncher) Remove(_ context.Context, uid string) error {
	dir, err := l.dir(uid)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder of run %s: %w", uid, err)
	}
	return nil
}

func markedProcesses(uid string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() && marked(pid, uid) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// marked reports whether a process carries a run's marker. A zombie has no
// environment any more.
func marked(pid int, uid string) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	want := []byte(RunMarker + "=" + uid)
	for _, variable := range bytes.Split(environ, []byte{0}) {
		if bytes.Equal(variable, want) {
			return true
		}
	}
	return false
}
