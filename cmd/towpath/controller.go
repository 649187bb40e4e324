package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gocloud.dev/blob/fileblob"

	"github.com/towpath-dev/towpath/controller"
	"github.com/towpath-dev/towpath/controller/runner"
	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/dev"
)

// devWorkers is how many runs towpath dev lets work at once: about 0.5 GB each,
// on a machine that somebody works on.
const devWorkers = 3

// runController runs the controller of towpath dev until ctx is cancelled.
func runController(ctx context.Context, d dev.Controller) (err error) {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	bucket, err := fileblob.OpenBucket(filepath.Join(d.Dir, "artefacts"), &fileblob.Options{
		CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
	})
	if err != nil {
		return fmt.Errorf("open the store of plans and logs: %w", err)
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("ask for this machine's name: %w", err)
	}
	return controller.Run(ctx, controller.Options{
		Config: d.Config, RunCluster: d.Config, SystemNamespace: deploy.Namespace,
		Launcher: &runner.ProcessLauncher{
			Runner: filepath.Join(filepath.Dir(program), "towpath-runner"),
			Dir:    filepath.Join(d.Dir, "runs"),
			// The cluster dies with this process: a run could only fail slowly.
			ExitWithParent: true,
		},
		Blobs: bucket, Toolchain: d.Bin, PulumiHome: d.PulumiHome, Workers: devWorkers,
		Holder: fmt.Sprintf("%s/%d", host, os.Getpid()), MetricsAddress: "0", Log: d.Log,
	})
}
