// Package dev is `towpath dev`: Towpath with everything around it on one
// machine. It starts a control plane, installs Towpath in it, furnishes it with
// environments, a team and people to be, and runs controller and portal until it is
// told to stop. Everything that it keeps is in one folder. It decides nothing
// about changes, and no production part may import it.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/fault"
)

// controllerPatience is how long portal and controller may take to end its runs cleanly
// before the control plane goes away under it.
const controllerPatience = 45 * time.Second

// Options say what to start and where.
type Options struct {
	// Program is how people call this program, for what they are told to type.
	Program string
	// Dir is the folder of all state.
	Dir string
	// Toolchain is the folder of the toolchain: bin and pulumi-home in it.
	Toolchain string
	// Out is where people read what happens.
	Out io.Writer
	// Controller runs the controller until its context is cancelled.
	Controller func(ctx context.Context, controller Controller) error
	// Portal serves the portal until its context is cancelled.
	Portal func(ctx context.Context, portal Portal) error
	// Port is where the portal listens; 0 means that of the last start.
	Port int
}

// Controller is what the controller is started with.
type Controller struct {
	// Config signs in as the controller.
	Config *rest.Config
	// Dir is the folder for runs and artefacts; it exists.
	Dir string
	// Bin is the folder with pulumi and pulumi-language-yaml, PulumiHome the one
	// whose plugins folder holds the providers.
	Bin, PulumiHome string
	// Log is the log of the whole program.
	Log *slog.Logger
}

// Run starts everything and returns when ctx is cancelled and all is stopped, or
// when a part of it has failed.
func Run(ctx context.Context, options Options) (err error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return fmt.Errorf("find folder %q: %w", options.Dir, err)
	}
	toolchain, err := filepath.Abs(options.Toolchain)
	if err != nil {
		return fmt.Errorf("find folder %q: %w", options.Toolchain, err)
	}
	d := &session{Options: options, dir: dir, bin: filepath.Join(toolchain, "bin"), pulumiHome: filepath.Join(toolchain, "pulumi-home")}
	if err := d.run(ctx); err != nil && ctx.Err() == nil {
		return err
	} else if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("stop: %w", err)
	}
	d.say("Stopped. Everything is kept in %s.", options.Dir)
	return nil
}

// session is one run of `towpath dev`.
type session struct {
	Options
	dir, bin, pulumiHome string
	log                  *slog.Logger
}

func (s *session) run(ctx context.Context) (err error) {
	plane, err := controlplane.Start(ctx, controlplane.Config{
		Bin:        s.bin,
		Dir:        filepath.Join(s.dir, "controlplane"),
		Components: controlplane.All(),
		Progress:   func(sentence string) { s.say("%s", sentence) },
	})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx)))
	}()
	// The control plane's lock holds the whole folder from here on.
	if err := s.makeFolders(); err != nil {
		return err
	}
	logFile, err := openLog(filepath.Join(s.dir, "logs", "towpath.log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, logFile.Close()) }()
	s.log = slog.New(slog.NewJSONHandler(logFile, nil))
	s.log.Info("control plane started", "url", plane.URL())

	if err := s.furnish(ctx, plane); err != nil {
		return err
	}
	open, err := s.listen(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.close()) }()
	return s.runParts(ctx, plane, open)
}

func (s *session) makeFolders() error {
	for _, folder := range []string{"kubeconfig", "logs", stateFolder, "controller", "issuer"} {
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o700); err != nil {
			return fmt.Errorf("create state folder: %w", err)
		}
	}
	return nil
}

// furnish brings the cluster to where a newcomer can begin. It may be repeated:
// what people have changed stays.
func (s *session) furnish(ctx context.Context, plane *controlplane.ControlPlane) error {
	config, err := plane.AdminConfig()
	if err != nil {
		return err
	}
	// The default of five requests a second is meant for a shared cluster.
	config.QPS = -1
	s.say("Installing Towpath: kinds, roles and admission policies.")
	if err := deploy.Install(ctx, config, func(step string) { s.log.Info("installing", "step", step) }); err != nil {
		return err
	}
	applier, err := deploy.NewApplier(config)
	if err != nil {
		return err
	}
	if err := seed(ctx, applier, filepath.Join(s.dir, stateFolder)); err != nil {
		return err
	}
	if err := s.publish(ctx, applier); err != nil {
		return err
	}
	return writeKubeconfigs(plane, filepath.Join(s.dir, "kubeconfig"))
}

// runParts runs controller and portal until ctx is cancelled or a part fails, and
// returns when both have ended.
func (s *session) runParts(ctx context.Context, plane *controlplane.ControlPlane, open listeners) error {
	config, err := plane.UserConfig(deploy.ControllerUser, "system:serviceaccounts", "system:serviceaccounts:"+deploy.Namespace)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 2)
	go func() {
		ended <- reasonOf(running, "controller", s.Controller(running, Controller{
			Config:     config,
			Dir:        filepath.Join(s.dir, "controller"),
			Bin:        s.bin,
			PulumiHome: s.pulumiHome,
			Log:        s.log,
		}))
	}()
	go func() { ended <- reasonOf(running, "portal", s.runPortal(running, plane, open)) }()
	s.say("%s", welcome(s.Program, s.Dir, localURL(open.portal), plane.URL()))

	waiting := 2
	select {
	case err = <-ended:
		waiting--
	case <-plane.Done():
		err = fault.New(fault.Unavailable, plane.Err(), "A part of the control plane has ended (%v). Start again; nothing is lost.", plane.Err())
	case <-ctx.Done():
		s.say("Stopping: first portal and controller, then the control plane. Press Ctrl-C again to stop at once.")
	}
	stop()
	patience := time.After(controllerPatience)
	for ; waiting > 0; waiting-- {
		select {
		case partErr := <-ended:
			err = errors.Join(err, partErr)
		case <-patience:
			return errors.Join(err, fmt.Errorf("portal and controller did not end within %s", controllerPatience))
		}
	}
	return err
}

// reasonOf is why a part has ended: nobody may end without one while others run.
func reasonOf(ctx context.Context, part string, err error) error {
	if err == nil && ctx.Err() == nil {
		return fmt.Errorf("the %s has ended without a reason", part)
	}
	return err
}

func (s *session) say(format string, args ...any) {
	// Nothing can be done about a reader that is gone.
	_, _ = fmt.Fprintf(s.Out, format+"\n", args...)
}
