// Package portal runs `towpath dev` in a process of its own, for tests and
// measurements that drive it from outside. It must not be imported by the product,
// and it calls no package of the product to make something happen.
package portal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// Portal is a running `towpath dev`.
type Portal struct {
	// Dir is the folder of all its state.
	Dir string
	// Output is the file that its output goes to.
	Output string
	// URL is its address.
	URL string

	bin   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	err   error         // how it ended; only after ended
}

const (
	startPatience = 3 * time.Minute
	stopPatience  = time.Minute
	look          = 100 * time.Millisecond
)

// Root is the folder of the module, above the working folder.
func Root() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("there is no go.mod above the working folder")
		}
		folder = parent
	}
}

// Build builds the programs into a folder.
func Build(ctx context.Context, bin string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, ".toolchain", "bin", "kubectl")); err != nil {
		return fmt.Errorf("the toolchain is not there; run `make toolchain` first: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/towpath", "./cmd/towpath-runner")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, output)
	}
	return nil
}

// Start starts a portal with the programs in bin and its state in dir, and returns
// when it says that it is ready.
func Start(bin, dir string) (*Portal, error) {
	p := &Portal{Dir: dir, Output: dir + ".log", bin: bin}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the portal: %w", err)
	}
	if err := p.StartAgain(); err != nil {
		return nil, err
	}
	return p, nil
}

// StartAgain starts a portal that was stopped or killed, with the state it had.
func (p *Portal) StartAgain() error {
	root, err := Root()
	if err != nil {
		return err
	}
	output, err := os.Create(p.Output)
	if err != nil {
		return fmt.Errorf("keep the portal's output: %w", err)
	}
	defer output.Close()
	p.cmd = exec.Command(filepath.Join(p.bin, "towpath"), "dev", "--dir", p.Dir, "--toolchain", filepath.Join(root, ".toolchain")) //nolint:noctx // Stop ends it
	p.cmd.Stdout, p.cmd.Stderr = output, output
	// It must not outlive a test run that is cut short.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start towpath dev: %w", err)
	}
	cmd, ended := p.cmd, make(chan struct{})
	p.ended = ended
	go func() {
		p.err = cmd.Wait()
		close(ended)
	}()
	if err := p.awaitReady(); err != nil {
		return errors.Join(err, p.Stop())
	}
	return nil
}

var ready = regexp.MustCompile(`(?s)Towpath is ready\..*?(http://\S+)`)

func (p *Portal) awaitReady() error {
	deadline := time.After(startPatience)
	for {
		over := false
		select {
		case <-p.ended:
			over = true
		default:
		}
		text, err := os.ReadFile(p.Output)
		if err != nil {
			return fmt.Errorf("read the portal's output: %w", err)
		}
		if said := ready.FindSubmatch(text); said != nil && !over {
			p.URL = string(said[1])
			return nil
		}
		if over {
			return fmt.Errorf("towpath dev ended (%w) before it was ready:\n%s", p.err, text)
		}
		select {
		case <-p.ended:
		case <-deadline:
			return fmt.Errorf("towpath dev is not ready after %s:\n%s", startPatience, text)
		case <-time.After(look):
		}
	}
}

// Stop stops the portal as Ctrl-C does, or kills it if it does not obey.
func (p *Portal) Stop() error {
	select {
	case <-p.ended:
		return nil // a start that failed has said why
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop towpath dev: %w", err)
	}
	select {
	case <-p.ended:
		if p.err != nil {
			return fmt.Errorf("towpath dev ended: %w", p.err)
		}
		return nil
	case <-time.After(stopPatience):
		p.Kill()
		return fmt.Errorf("towpath dev did not stop within %s", stopPatience)
	}
}

// Kill kills the portal's own process, as kill -9 does, and waits for its end.
func (p *Portal) Kill() {
	_ = p.cmd.Process.Kill() // one that has ended is as good
	<-p.ended
}

// PID is the process id of the portal.
func (p *Portal) PID() int { return p.cmd.Process.Pid }

// Kubeconfig is the path of the kubeconfig of one of the portal's people.
func (p *Portal) Kubeconfig(person string) string {
	return filepath.Join(p.Dir, "kubeconfig", person+".kubeconfig")
}

// Towpath is a call of the command line as one of the portal's people.
func (p *Portal) Towpath(ctx context.Context, person string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(p.bin, "towpath"), append(args, "--role", person, "--dir", p.Dir)...)
}
