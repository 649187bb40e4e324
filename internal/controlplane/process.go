package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// command is what a process is started with.
type command struct {
	name    string
	path    string
	args    []string
	workDir string
	log     string
}

// process is a started component.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	// asked is set before the process is told to end.
	asked atomic.Bool
	// done is closed when the process has ended; err is set before.
	done chan struct{}
	err  error
}

// launcher starts processes that die when this one does. The kernel watches the
// thread that started a process, not the whole parent, so one thread starts
// them all and lives until close.
type launcher struct {
	jobs   chan func()
	record record
}

func newLauncher(recordPath string) *launcher {
	l := &launcher{jobs: make(chan func()), record: record{path: recordPath}}
	go func() {
		runtime.LockOSThread()
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

// close ends the thread, and with it whatever it started that still runs.
func (l *launcher) close() { close(l.jobs) }

func (l *launcher) start(c command) (*process, error) {
	log, err := openLog(c.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(c.path, c.args...) //nolint:noctx // a component outlives the context of its start; end ends it
	cmd.Dir = c.workDir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()

	started := make(chan error)
	l.jobs <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	p := &process{name: c.name, log: c.log, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := l.record.add(c.name, cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, p.kill())
	}
	return p, nil
}

// endLeftovers kills what a previous instance has recorded and left running.
func (l *launcher) endLeftovers() error { return l.record.endAll() }

// end asks the process to end and kills it when ctx is done or patience over.
func (p *process) end(ctx context.Context, patience time.Duration) error {
	p.asked.Store(true)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end %s: %w", p.name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return p.kill()
	}
}

func (p *process) kill() error {
	p.asked.Store(true)
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// reason says how the process ended, in a sentence; only after done.
func (p *process) reason() error {
	how := "with success"
	if p.err != nil {
		how = "with " + p.err.Error()
	}
	return fmt.Errorf("%s ended %s; its last words in %s are: %s", p.name, how, p.log, lastLine(p.log))
}

// openLog opens an empty log and keeps the one of the start before.
func openLog(path string) (*os.File, error) {
	if err := os.Rename(path, strings.TrimSuffix(path, ".log")+".previous.log"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("keep previous log: %w", err)
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return log, nil
}

// lastLine returns the line of a log that most likely says why it ends.
func lastLine(path string) string {
	const most = 400
	content, err := os.ReadFile(path)
	if err != nil {
		return "(the log cannot be read)"
	}
	content = bytes.TrimSpace(content)
	// A panic says what is wrong in its first line, and where in the last.
	if i := bytes.LastIndex(content, []byte("\npanic: ")); i >= 0 {
		content, _, _ = bytes.Cut(content[i+1:], []byte("\n"))
	}
	lines := bytes.Split(content, []byte("\n"))
	last := string(lines[len(lines)-1])
	if len(last) > most {
		last = last[:most] + " …"
	}
	if last == "" {
		return "(none)"
	}
	return last
}
