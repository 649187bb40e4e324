package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/towpath-dev/towpath/controller"
)

// portal is `towpath dev` in a process of its own.
type portal struct {
	dir    string // the folder of all its state
	output string // the file that its output goes to
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	err    error         // how it ended; only after ended
	admin  client.Client
}

// The team's namespace, in which everything is proposed.
const team = "shop"

const (
	startPatience = 2 * time.Minute
	stopPatience  = time.Minute
)

func newPortal(dir string) *portal {
	return &portal{dir: filepath.Join(dir, "towpath"), output: filepath.Join(dir, "output.log")}
}

// start starts the portal and returns when it says that it is ready.
func (p *portal) start() error {
	bin, err := built()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.output), 0o700); err != nil {
		return err
	}
	output, err := os.Create(p.output)
	if err != nil {
		return err
	}
	defer output.Close()
	p.cmd = exec.Command(filepath.Join(bin, "towpath"), "dev", "--dir", p.dir, "--toolchain", filepath.Join(module(), ".toolchain")) //nolint:noctx // stop ends it
	p.cmd.Stdout, p.cmd.Stderr = output, output
	// It must not outlive a test run that is cut short.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	if err := p.awaitReady(); err != nil {
		return errors.Join(err, p.stop())
	}
	config, err := p.adminConfig()
	if err != nil {
		return err
	}
	p.admin, err = connect(config)
	return err
}

func (p *portal) awaitReady() error {
	deadline := time.After(startPatience)
	for {
		over := false
		select {
		case <-p.ended:
			over = true
		default:
		}
		text, err := os.ReadFile(p.output)
		if err != nil {
			return err
		}
		if over {
			return fmt.Errorf("towpath dev ended (%w) before it was ready:\n%s", p.err, text)
		}
		if strings.Contains(string(text), "Towpath is ready.") {
			return nil
		}
		select {
		case <-p.ended:
		case <-deadline:
			return fmt.Errorf("towpath dev is not ready after %s:\n%s", startPatience, text)
		case <-time.After(look):
		}
	}
}

// stop stops the portal as Ctrl-C does, or kills it if it does not obey.
func (p *portal) stop() error {
	select {
	case <-p.ended:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return p.err
	case <-time.After(stopPatience):
		p.kill()
		return fmt.Errorf("it did not stop within %s", stopPatience)
	}
}

// kill kills the portal's own process, as kill -9 does, and waits for its end.
func (p *portal) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// as connects to the portal's cluster as one of its people.
func (p *portal) as(t *testing.T, role string) client.Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig(role))
	if err != nil {
		t.Fatal(err)
	}
	c, err := connect(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (p *portal) kubeconfig(role string) string {
	return filepath.Join(p.dir, "kubeconfig", role+".kubeconfig")
}

func connect(config *rest.Config) (client.Client, error) {
	scheme, err := controller.Scheme()
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the default is meant for a shared cluster
	return client.New(config, client.Options{Scheme: scheme})
}

// logTail is the end of what the portal has to say, for a test that has failed.
func (p *portal) logTail() string {
	text, err := os.ReadFile(filepath.Join(p.dir, "logs", "towpath.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
