// Package change moves ChangeRequests: from the proposal over a preview, a
// verdict and an apply per environment to an applied service. It starts Runs and
// reads their results; it must not run the engine itself, and what it decides it
// decides through package gate.
package change

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/clock"
)

// sweep is how often an open change is looked at without any event: a watch may
// have missed one.
const sweep = time.Minute

// Reconciler moves ChangeRequests.
type Reconciler struct {
	Client client.Client
	// Live reads past the cache.
	Live   client.Reader
	Health HealthChecker
	Clock  clock.Clock
	Log    *slog.Logger
}

// SetupWithManager registers the reconciler with what wakes it.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	byLabel := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return request(o.GetNamespace(), o.GetLabels()[v1alpha1.ChangeRequestLabel])
	})
	byReview := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		review, ok := o.(*v1alpha1.Review)
		if !ok {
			return nil
		}
		return request(review.Namespace, review.Spec.ChangeRequest)
	})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.ChangeRequest{}).
		Watches(&v1alpha1.Run{}, byLabel).
		Watches(&v1alpha1.Review{}, byReview).
		Watches(&v1alpha1.ChangeRequest{}, handler.EnqueueRequestsFromMapFunc(r.siblings)).
		Watches(&pulumiv1.Stack{}, handler.EnqueueRequestsFromMapFunc(r.open)).
		Watches(&v1alpha1.Environment{}, handler.EnqueueRequestsFromMapFunc(r.open)).
		Complete(r)
}

func request(namespace, name string) []reconcile.Request {
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

// siblings wakes the other open changes of a service.
func (r *Reconciler) siblings(ctx context.Context, o client.Object) []reconcile.Request {
	cr, ok := o.(*v1alpha1.ChangeRequest)
	if !ok {
		return nil
	}
	return r.openChanges(ctx, cr.Namespace, func(other v1alpha1.ChangeRequest) bool {
		return other.Spec.Service == cr.Spec.Service && other.Name != cr.Name
	})
}

// open wakes every open change in the object's namespace, or in all.
func (r *Reconciler) open(ctx context.Context, o client.Object) []reconcile.Request {
	return r.openChanges(ctx, o.GetNamespace(), func(v1alpha1.ChangeRequest) bool { return true })
}

func (r *Reconciler) openChanges(ctx context.Context, namespace string, which func(v1alpha1.ChangeRequest) bool) []reconcile.Request {
	var list v1alpha1.ChangeRequestList
	if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		r.Log.Error("list open changes", "namespace", namespace, "err", err)
		return nil
	}
	var requests []reconcile.Request
	for _, cr := range list.Items {
		if !cr.Status.Phase.Done() && which(cr) {
			requests = append(requests, request(cr.Namespace, cr.Name)...)
		}
	}
	return requests
}

// step does one thing for a change; stop ends this look at it.
type step func(ctx context.Context, w *world) (stop bool, err error)

// Reconcile moves one change as far as it goes now. Each step is idempotent;
// whatever happens, status is written once.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, err error) {
	var cr v1alpha1.ChangeRequest
	if err := r.Live.Get(ctx, req.NamespacedName, &cr); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w, err := r.read(ctx, &cr)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reconcile change %s: %w", req.NamespacedName, err)
	}
	if cr.Status.Phase.Done() {
		return ctrl.Result{}, r.judgeLate(ctx, w)
	}
	before := cr.DeepCopy()
	for _, do := range []step{
		r.withdraw,      // the author takes it back
		r.validate,      // refuse what can never be previewed
		r.supersede,     // a newer proposal takes its place
		r.snapshot,      // fix what is proposed
		r.advanceStacks, // preview, judge, apply, verify, per environment
	} {
		stop, stepErr := do(ctx, w)
		err = errors.Join(err, stepErr)
		if stop || stepErr != nil {
			break
		}
	}
	if !cr.Status.Phase.Done() {
		summarise(&cr, w)
	}
	if !equality.Semantic.DeepEqual(before.Status, cr.Status) {
		cr.Status.ObservedGeneration = cr.Generation
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err = errors.Join(err, r.Client.Status().Patch(ctx, &cr, patch))
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reconcile change %s: %w", req.NamespacedName, err)
	}
	if cr.Status.Phase.Done() {
		r.Log.Info("change ended", "namespace", cr.Namespace, "change", cr.Name, "phase", cr.Status.Phase)
		return ctrl.Result{}, r.prune(ctx, w)
	}
	return ctrl.Result{RequeueAfter: r.nextLook(&cr)}, nil
}

// nextLook is the earliest time any environment asked for, at most sweep away.
func (r *Reconciler) nextLook(cr *v1alpha1.ChangeRequest) time.Duration {
	after := sweep
	for _, sc := range cr.Status.Stacks {
		if sc.Waiting != nil && sc.Waiting.NextLook != nil {
			after = min(after, max(sc.Waiting.NextLook.Sub(r.Clock.Now()), time.Second))
		}
	}
	return after
}
