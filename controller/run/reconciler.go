// Package run carries out Runs: it starts a runner for each, follows its stream,
// and records how it ended. It must not decide whether an operation is allowed:
// whoever creates a Run has decided.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gocloud.dev/blob"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
	"github.com/towpath-dev/towpath/internal/clock"
)

// follow is how often a running run is looked at. Its stream is a local file.
const follow = 500 * time.Millisecond

// Reconciler moves Runs from Pending to their end.
type Reconciler struct {
	Client client.Client
	// Live reads past the cache: exclusion must not be decided on old news.
	Live     client.Reader
	Launcher runner.Launcher
	Jobs     *Jobs
	Blobs    *blob.Bucket
	Clock    clock.Clock
	Log      *slog.Logger
	// Holder names this controller instance.
	Holder string
	// Workers bounds how many runs are at work at once; each takes about 0.5 GB.
	Workers int
}

// orphanSweep is how often what deleted Runs left behind is looked for.
const orphanSweep = time.Minute

// SetupWithManager registers the reconciler.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			if err := r.sweepOrphans(ctx); err != nil && ctx.Err() == nil {
				r.Log.Error("sweep orphans", "err", err)
			}
		}, orphanSweep)
		return nil
	}))
	if err != nil {
		return fmt.Errorf("add the sweep of orphans: %w", err)
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Run{}).
		// One worker: exclusion per Pulumi stack is decided here, one run at a time.
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(r)
}

// Reconcile moves one Run a step closer to its end; status is written once.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, err error) {
	var run v1alpha1.Run
	if err := r.Live.Get(ctx, req.NamespacedName, &run); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if run.Status.Phase.Done() {
		return ctrl.Result{}, r.Launcher.Remove(ctx, string(run.UID))
	}
	l := &look{Run: &run, stored: run.DeepCopy()}
	after, err := r.advance(ctx, l)
	err = errors.Join(err, r.writeStatus(ctx, l))
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, nil // deleted meanwhile; the sweep of orphans ends what is at work for it
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reconcile run %s: %w", req.NamespacedName, err)
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// advance returns after how long to look again; 0 when the run is done.
func (r *Reconciler) advance(ctx context.Context, run *look) (time.Duration, error) {
	seen, err := r.Launcher.Observe(ctx, string(run.UID))
	if err != nil {
		return 0, err
	}
	switch {
	case seen.Result != nil && !seen.Alive:
		return 0, r.finish(ctx, run.Run, seen)
	case seen.Started && !seen.Alive:
		return 0, r.lose(ctx, run.Run, seen)
	case seen.Started:
		return follow, r.track(ctx, run.Run, seen)
	case run.Spec.Cancel:
		r.end(run.Run, v1alpha1.RunInterrupted, "It was cancelled before it began.")
		return 0, nil
	case run.Status.Phase == v1alpha1.RunRunning:
		// The folder is gone under a run that was at work.
		return 0, r.lose(ctx, run.Run, seen)
	}
	if waiting, err := r.queue(ctx, run.Run); err != nil || waiting {
		return 2 * time.Second, err
	}
	return follow, r.start(ctx, run)
}

// look is one look at a run: the run, and how it is stored.
type look struct {
	*v1alpha1.Run
	stored *v1alpha1.Run
}

// writeStatus stores the run's status if it has changed.
func (r *Reconciler) writeStatus(ctx context.Context, l *look) error {
	if equality.Semantic.DeepEqual(l.stored.Status, l.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(l.stored, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, l.Run, patch); err != nil {
		return fmt.Errorf("write its status: %w", err)
	}
	l.stored = l.DeepCopy()
	return nil
}
