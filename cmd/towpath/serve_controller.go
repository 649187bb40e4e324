package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // for addresses that begin with file://
	"k8s.io/client-go/rest"

	"github.com/towpath-dev/towpath/controller"
	"github.com/towpath-dev/towpath/controller/runner"
	"github.com/towpath-dev/towpath/internal/fault"
)

// controllerOptions are what the controller of towpath serve can be told.
type controllerOptions struct {
	dir, runner, toolchain, pulumiHome string
	blobs                              string
	workers                            int
	leaderElection                     bool
}

func (o *controllerOptions) flags(flags *pflag.FlagSet) {
	flags.StringVar(&o.dir, "runs-dir", "/var/lib/towpath/runs", "folder for what runs leave behind; keep it over restarts")
	flags.StringVar(&o.runner, "runner", "", "the program towpath-runner; empty: the one beside this program")
	flags.StringVar(&o.toolchain, "toolchain", "/opt/towpath/bin", "folder with pulumi and pulumi-language-yaml")
	flags.StringVar(&o.pulumiHome, "pulumi-home", "/opt/towpath/pulumi-home", "folder whose plugins folder has the providers")
	flags.StringVar(&o.blobs, "blobs", "file:///var/lib/towpath/artefacts?create_dir=true&no_tmp_dir=true&metadata=skip", "where whole plans and logs are kept")
	flags.IntVar(&o.workers, "workers", 2, "how many runs are at work at once; each takes about 0.5 GB")
	flags.BoolVar(&o.leaderElection, "leader-election", true, "let only one of several replicas reconcile")
}

func (o *controllerOptions) check() error {
	if o.workers < 1 {
		return fault.New(fault.Invalid, nil, "--workers must be at least 1; it is %d.", o.workers)
	}
	if o.runner != "" {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	o.runner = filepath.Join(filepath.Dir(program), "towpath-runner")
	return nil
}

// run reconciles until ctx ends.
func (o *controllerOptions) run(ctx context.Context, config *rest.Config, namespace string, log *slog.Logger) (err error) {
	bucket, err := blob.OpenBucket(ctx, o.blobs)
	if err != nil {
		return fault.New(fault.Invalid, err, "The store of plans and logs, %s, cannot be opened.", o.blobs)
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("ask for this machine's name: %w", err)
	}
	return controller.Run(ctx, controller.Options{
		Config: config, RunCluster: config, SystemNamespace: namespace,
		Launcher: &runner.ProcessLauncher{Runner: o.runner, Dir: o.dir},
		Blobs:    bucket, Toolchain: o.toolchain, PulumiHome: o.pulumiHome, Workers: o.workers,
		Holder: fmt.Sprintf("%s/%d", host, os.Getpid()), LeaderElection: o.leaderElection, MetricsAddress: "0", Log: log,
	})
}
