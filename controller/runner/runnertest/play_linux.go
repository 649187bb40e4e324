package runnertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/towpath-dev/towpath/controller/runner"
)

// Release is the signal that lets a runner that waits go on. Its number is above
// that of SIGTERM, so that an interrupt sent before is handled before.
const Release = unix.SIGWINCH

// Play is the main of a runner that is a process: it reads a job from in and
// follows its script. A test binary calls it from TestMain when it finds
// runner.RunMarker in its environment.
func Play(in io.Reader) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGTERM, Release)
	var job runner.Job
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	var script Script
	if err := json.Unmarshal([]byte(job.Project), &script); err != nil {
		return fmt.Errorf("read the script: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(job.Dir, runner.LockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("another runner is at work: %w", err)
	}
	stream, err := os.OpenFile(filepath.Join(job.Dir, runner.StreamFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	say := func(lines ...runner.Line) error { return write(stream, lines) }
	if err := say(runner.Line{Time: time.Now().UTC(), Start: &runner.Start{PID: os.Getpid()}}); err != nil {
		return err
	}
	if script.LeavesProcess {
		if err := leaveProcess(); err != nil {
			return err
		}
	}
	if err := say(script.Lines...); err != nil {
		return err
	}
	switch script.Then {
	case Exit:
		return nil
	case Die:
		return unix.Kill(os.Getpid(), unix.SIGKILL)
	case Wait:
	}
	for <-signals != Release {
		if err := say(runner.Line{Time: time.Now().UTC(), Log: &runner.Log{Severity: "info", Text: interrupted}}); err != nil {
			return err
		}
	}
	return say(script.Last...)
}

func write(stream io.Writer, lines []runner.Line) error {
	for _, line := range lines {
		if err := json.NewEncoder(stream).Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// leaveProcess starts a process that ignores SIGTERM, in a session of its own, and
// returns once it does.
func leaveProcess() error {
	cmd := exec.Command("sh", "-c", "trap '' TERM; echo ready; exec sleep 600") //nolint:noctx // it is to outlive this process
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return errors.Join(fmt.Errorf("the process said %q", line), err)
	}
	return nil
}
