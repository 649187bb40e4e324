// Package stack keeps the status of Stacks in the words of the Pulumi Kubernetes
// Operator, from the Runs that were made of them, and brings edits that came by
// another door than a ChangeRequest to the gate by opening one. It must not start
// Runs.
package stack

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
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/clock"
)

// Finalizer is the Pulumi Kubernetes Operator's.
const Finalizer = "finalizer.stack.pulumi.com"

// Reconciler keeps Stacks' status.
type Reconciler struct {
	Client client.Client
	Live   client.Reader
	Clock  clock.Clock
	Log    *slog.Logger
}

// SetupWithManager registers the reconciler with what wakes it.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	byRun := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		run, ok := o.(*v1alpha1.Run)
		if !ok {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: run.Namespace, Name: run.Spec.StackName}}}
	})
	byService := handler.EnqueueRequestsFromMapFunc(r.ofService)
	return ctrl.NewControllerManagedBy(mgr).
		For(&pulumiv1.Stack{}).
		Watches(&v1alpha1.Run{}, byRun).
		Watches(&v1alpha1.ChangeRequest{}, byService).
		Watches(&pulumiv1.Program{}, byService).
		Complete(r)
}

// ofService wakes the Stacks of the service that an object is of.
func (r *Reconciler) ofService(ctx context.Context, o client.Object) []reconcile.Request {
	service := o.GetName()
	if cr, ok := o.(*v1alpha1.ChangeRequest); ok {
		service = cr.Spec.Service
	}
	var stacks pulumiv1.StackList
	if err := r.Client.List(ctx, &stacks, client.InNamespace(o.GetNamespace())); err != nil {
		r.Log.Error("list the stacks of a service", "namespace", o.GetNamespace(), "service", service, "err", err)
		return nil
	}
	var requests []reconcile.Request
	for _, stack := range stacks.Items {
		if ref := stack.Spec.ProgramRef; ref != nil && ref.Name == service {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&stack)})
		}
	}
	return requests
}

// Reconcile brings one Stack's status up to date.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var stack pulumiv1.Stack
	if err := r.Live.Get(ctx, req.NamespacedName, &stack); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.guardDeletion(ctx, &stack); err != nil {
		return ctrl.Result{}, fmt.Errorf("reconcile stack %s: %w", req.NamespacedName, err)
	}
	facts, err := r.facts(ctx, &stack)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reconcile stack %s: %w", req.NamespacedName, err)
	}
	before := stack.DeepCopy()
	record(&stack, facts)
	after, err := r.openChange(ctx, &stack, facts)
	if !equality.Semantic.DeepEqual(before.Status, stack.Status) {
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err = errors.Join(err, client.IgnoreNotFound(r.Client.Status().Patch(ctx, &stack, patch)))
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reconcile stack %s: %w", req.NamespacedName, err)
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// guardDeletion holds a Stack that asks for its resources to be destroyed when it
// is deleted: to let it go without that would leave them behind in silence. Any
// other Stack it lets go, also one that the operator has held.
func (r *Reconciler) guardDeletion(ctx context.Context, stack *pulumiv1.Stack) error {
	before := stack.DeepCopy()
	changed := false
	switch {
	case !stack.Spec.DestroyOnFinalize:
		changed = controllerutil.RemoveFinalizer(stack, Finalizer)
	case stack.DeletionTimestamp == nil:
		changed = controllerutil.AddFinalizer(stack, Finalizer)
	}
	if !changed {
		return nil
	}
	if err := r.Client.Patch(ctx, stack, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("set the finalizer: %w", err)
	}
	return nil
}

// settleTime is how long an edit rests before a change is opened for it, so that
// a Program and its Stacks that are applied together become one change.
const settleTime = 3 * time.Second
