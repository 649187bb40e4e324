// Package controlplane runs a Kubernetes control plane on this machine, for
// `towpath dev` and for tests: etcd, kube-apiserver and, as asked,
// kube-controller-manager, kube-scheduler and kwok, which simulates a node so
// that workloads become ready.
//
// It starts, watches and stops processes and keeps their state in one folder.
// It installs nothing of Towpath's own and must not know any of its kinds.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Component is an optional part of the control plane; etcd and kube-apiserver
// always run.
type Component string

// The optional components.
const (
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kwok              Component = "kwok"
)

const (
	etcd      = "etcd"
	apiServer = "kube-apiserver"
)

// All returns every optional component: what a cluster needs for Deployments,
// StatefulSets, Jobs and PersistentVolumeClaims to become ready.
func All() []Component {
	return []Component{ControllerManager, Scheduler, Kwok}
}

// Config says what to run and where.
type Config struct {
	// Bin is the folder of the binaries, each under its own name.
	Bin string
	// Dir is the folder of the state. One control plane at a time may use it.
	Dir string
	// Components are the optional parts to run.
	Components []Component
	// Disposable gives up the state's safety against a power failure for speed.
	Disposable bool
	// Progress, if not nil, is told in a sentence what is being done.
	Progress func(sentence string)
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	config   Config
	lock     *lock
	pki      *pki
	port     int
	launcher *launcher

	// running is in the order of the start; only Start adds to it.
	running []*process
	done    chan struct{}
	ended   sync.Once
	err     error
	stop    sync.Once
	stopErr error
}

// Start starts the control plane and returns when it answers and, where asked
// for, when its node is ready. The control plane outlives ctx, which bounds the
// start alone, but not this process: if it dies, all components die.
func Start(ctx context.Context, config Config) (_ *ControlPlane, err error) {
	if config.Progress == nil {
		config.Progress = func(string) {}
	}
	if config.Dir, err = filepath.Abs(config.Dir); err != nil {
		return nil, fmt.Errorf("find folder %q: %w", config.Dir, err)
	}
	if config.Bin, err = filepath.Abs(config.Bin); err != nil {
		return nil, fmt.Errorf("find folder %q: %w", config.Bin, err)
	}
	if err := checkBinaries(config); err != nil {
		return nil, err
	}
	for _, folder := range []string{config.Dir, filepath.Join(config.Dir, "logs"), filepath.Join(config.Dir, "pki")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("create state folder: %w", err)
		}
	}

	c := &ControlPlane{config: config, done: make(chan struct{})}
	if c.lock, err = acquireLock(filepath.Join(config.Dir, "lock")); err != nil {
		return nil, err
	}
	c.launcher = newLauncher(filepath.Join(config.Dir, "processes.json"))
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
		}
	}()

	if err := c.launcher.endLeftovers(); err != nil {
		return nil, err
	}
	if c.port, err = choosePort(filepath.Join(config.Dir, "port"), config.Progress); err != nil {
		return nil, err
	}
	if c.pki, err = loadPKI(filepath.Join(config.Dir, "pki")); err != nil {
		return nil, err
	}
	if err := c.startAPI(ctx); err != nil {
		return nil, err
	}
	if err := c.startOthers(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Done is closed when a component has ended without being asked to; Err says
// which and why. The others are still running then: call Stop.
func (c *ControlPlane) Done() <-chan struct{} { return c.done }

// Err returns why the control plane is done, or nil while it is not.
func (c *ControlPlane) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Stop ends all components, those that need others first, and releases the
// state folder. A component that does not end by itself within ctx, or within
// seconds, is killed; etcd's data survives that.
func (c *ControlPlane) Stop(ctx context.Context) error {
	c.stop.Do(func() {
		patience := 10 * time.Second
		if c.Err() != nil {
			// Without etcd the API server waits in vain for its last writes.
			patience = 2 * time.Second
		}
		var errs []error
		for _, p := range slices.Backward(c.running) {
			errs = append(errs, p.end(ctx, patience))
		}
		c.launcher.close()
		c.stopErr = errors.Join(append(errs, c.lock.release())...)
	})
	return c.stopErr
}

func (c *ControlPlane) logs() string { return filepath.Join(c.config.Dir, "logs") }

// launch starts one component and watches it.
func (c *ControlPlane) launch(name, workDir string, args ...string) error {
	p, err := c.launcher.start(command{
		name:    name,
		path:    filepath.Join(c.config.Bin, name),
		args:    args,
		workDir: workDir,
		log:     filepath.Join(c.logs(), name+".log"),
	})
	if err != nil {
		return err
	}
	c.running = append(c.running, p)
	go func() {
		<-p.done
		if !p.asked.Load() {
			c.ended.Do(func() {
				c.err = p.reason()
				close(c.done)
			})
		}
	}()
	return nil
}

func (c *ControlPlane) has(component Component) bool {
	return slices.Contains(c.config.Components, component)
}

func checkBinaries(config Config) error {
	names := []string{etcd, apiServer}
	for _, component := range config.Components {
		names = append(names, string(component))
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(config.Bin, name)); err != nil {
			return fmt.Errorf("%s is not in %s; run `make toolchain` to build it: %w", name, config.Bin, err)
		}
	}
	return nil
}
