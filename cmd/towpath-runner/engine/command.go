package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"golang.org/x/sys/unix"
)

// command runs the pulumi CLI for the Automation API, whose own way of doing it
// inherits the environment, asks for the version first, gives an interrupted
// engine ten seconds and ties its output to pipes.
type command struct {
	path    string
	env     []string
	version semver.Version
	// grace is how long an interrupted engine may take to end.
	grace time.Duration
	// hurry, once closed, ends the grace.
	hurry <-chan struct{}
}

var _ auto.PulumiCommand = (*command)(nil)

// afterKill bounds the wait for output of a process that was killed.
const afterKill = 2 * time.Second

// Run implements auto.PulumiCommand. When ctx ends it interrupts the CLI and
// waits; what does not end in time is killed.
func (c *command) Run(
	ctx context.Context, workdir string, stdin io.Reader,
	alsoStdout, alsoStderr []io.Writer, env []string, args ...string,
) (string, string, int, error) {
	if err := ctx.Err(); err != nil {
		return "", "", -1, err
	}
	stdout, err := memoryFile("stdout")
	if err != nil {
		return "", "", -1, err
	}
	defer stdout.Close()
	stderr, err := memoryFile("stderr")
	if err != nil {
		return "", "", -1, err
	}
	defer stderr.Close()

	cmd := exec.Command(c.path, append(args, "--non-interactive")...) //nolint:gosec,noctx // the toolchain's own; ctx interrupts it below
	cmd.Dir = workdir
	cmd.Env = append(append([]string{}, c.env...), append(env, "PULUMI_AUTOMATION_API=true")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.WaitDelay = afterKill
	// A group of its own, so that a signal to the runner's does not reach the
	// engine twice; and an interrupt when the runner is killed, so that the engine
	// ends in order and takes its plugins with it.
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGTERM}

	runErr := c.wait(ctx, cmd)
	out, err := contents(stdout, alsoStdout)
	if err != nil {
		return "", "", -1, err
	}
	errOut, err := contents(stderr, alsoStderr)
	if err != nil {
		return "", "", -1, err
	}
	code := -1
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return out, errOut, code, runErr
}

func (c *command) wait(ctx context.Context, cmd *exec.Cmd) error {
	started, done := make(chan error, 1), make(chan error, 1)
	go func() {
		// The kernel takes the end of the thread that started a process for the
		// parent's death: this one stays until the process has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(c.path), err)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	_ = cmd.Process.Signal(os.Interrupt) // gone already is as good
	grace := time.NewTimer(c.grace)
	defer grace.Stop()
	select {
	case err := <-done:
		return errors.Join(ctx.Err(), err)
	case <-grace.C:
	case <-c.hurry:
	}
	_ = cmd.Process.Kill() // gone already is as good
	<-done                 //nolint:errcheck // it was killed: there is nothing else to learn
	return errors.Join(ctx.Err(), errKilled)
}

// errKilled says that the engine did not end in time and was killed: its lock
// and pending operations may be left.
var errKilled = errors.New("the engine was killed")

// Version implements auto.PulumiCommand.
func (c *command) Version() semver.Version { return c.version }

// memoryFile is a file without a name: output may hold secrets, which must not
// reach a disk, and a pipe would end the engine when the runner is killed.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func contents(file *os.File, also []io.Writer) (string, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read the engine's output: %w", err)
	}
	var out bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(append(also, &out)...), file); err != nil {
		return "", fmt.Errorf("read the engine's output: %w", err)
	}
	return out.String(), nil
}
