package stack

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/change"
	"github.com/towpath-dev/towpath/controller/program"
)

// facts are what a Stack's status is made from.
type facts struct {
	program  *pulumiv1.Program // nil when it is missing, or the source is another
	current  *v1alpha1.Run     // the Up that is at work
	last     *v1alpha1.Run     // the Up that ended last
	revision string            // snapshot name of the Program as it is now
	// change is the newest change that covers this Stack's environment, nil if none
	// does; state is how it stands there.
	change *v1alpha1.ChangeRequest
	state  *v1alpha1.StackChange
	// siblings are the Stacks of the same Program, this one included.
	siblings []pulumiv1.Stack
	changes  []v1alpha1.ChangeRequest
}

func (r *Reconciler) facts(ctx context.Context, stack *pulumiv1.Stack) (facts, error) {
	var f facts
	here := client.InNamespace(stack.Namespace)
	var runs v1alpha1.RunList
	if err := r.Live.List(ctx, &runs, here); err != nil {
		return f, fmt.Errorf("list runs: %w", err)
	}
	for i := range runs.Items {
		f.consider(stack, &runs.Items[i])
	}
	if stack.Spec.ProgramRef == nil {
		return f, nil
	}
	service := stack.Spec.ProgramRef.Name
	var source pulumiv1.Program
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: service}, &source)
	switch {
	case err == nil:
		f.program, f.revision = &source, program.SnapshotName(service, source.Program)
	case !apierrors.IsNotFound(err):
		return f, fmt.Errorf("read program %q: %w", service, err)
	}
	var stacks pulumiv1.StackList
	if err := r.Live.List(ctx, &stacks, here); err != nil {
		return f, fmt.Errorf("list stacks: %w", err)
	}
	for _, other := range stacks.Items {
		if ref := other.Spec.ProgramRef; ref != nil && ref.Name == service && other.DeletionTimestamp == nil {
			f.siblings = append(f.siblings, other)
		}
	}
	var changes v1alpha1.ChangeRequestList
	if err := r.Live.List(ctx, &changes, here); err != nil {
		return f, fmt.Errorf("list changes: %w", err)
	}
	for i := range changes.Items {
		f.considerChange(stack, service, &changes.Items[i])
	}
	return f, nil
}

func (f *facts) consider(stack *pulumiv1.Stack, run *v1alpha1.Run) {
	if run.Spec.StackName != stack.Name || run.Spec.Operation != v1alpha1.Up {
		return // previews of the gate are not the Stack's updates
	}
	switch run.Status.Phase {
	case v1alpha1.RunSucceeded, v1alpha1.RunFailed, v1alpha1.RunInterrupted, v1alpha1.RunLost:
		if f.last == nil || f.last.Status.FinishedAt.Before(run.Status.FinishedAt) {
			f.last = run
		}
	case v1alpha1.RunRunning, v1alpha1.RunPending, "":
		f.current = run
	case v1alpha1.RunDiverged: // nothing was attempted
	}
}

func (f *facts) considerChange(stack *pulumiv1.Stack, service string, cr *v1alpha1.ChangeRequest) {
	if cr.Spec.Service != service || cr.Status.Phase == v1alpha1.ChangeRefused {
		return
	}
	f.changes = append(f.changes, *cr)
	for _, proposal := range cr.Spec.Environments {
		if string(proposal.Name) != change.EnvironmentOf(stack) || (f.change != nil && !f.change.CreationTimestamp.Before(&cr.CreationTimestamp)) {
			continue
		}
		f.change, f.state = cr, nil
		for i := range cr.Status.Stacks {
			if cr.Status.Stacks[i].Stack == stack.Name {
				f.state = &cr.Status.Stacks[i]
			}
		}
	}
}
