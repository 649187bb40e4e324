package stack

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/change"
)

// record writes the facts into the Stack's status. It is a pure function of both.
func record(stack *pulumiv1.Stack, f facts) {
	status := &stack.Status
	status.ObservedGeneration = stack.Generation
	status.ObservedReconcileRequest = stack.Annotations[pulumiv1.ReconciliationRequestAnnotation]
	status.CurrentUpdate = nil
	if f.current != nil {
		status.CurrentUpdate = &pulumiv1.CurrentStackUpdate{
			Generation: generation(f.current), ReconcileRequest: f.current.Annotations[change.ReconcileRequestAnnotation],
			Name: f.current.Name, Commit: f.current.Spec.Snapshot,
		}
	}
	if f.last != nil && newer(f.last, status.LastUpdate) {
		recordUpdate(status, f.last)
	}
	condition(stack, conditionOf(stack, f))
}

// newer reports whether a Run is news. The Run behind lastUpdate may be gone when
// older ones are still there.
func newer(run *v1alpha1.Run, last *pulumiv1.StackUpdateState) bool {
	return last == nil || last.Name != run.Name && !run.Status.FinishedAt.Before(&last.LastResyncTime)
}

func generation(run *v1alpha1.Run) int64 {
	n, err := strconv.ParseInt(run.Annotations[change.StackGenerationAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// recordUpdate writes lastUpdate in the operator's meaning: failures counts those
// after the first on the same generation and request.
func recordUpdate(status *pulumiv1.StackStatus, run *v1alpha1.Run) {
	old := status.LastUpdate
	update := &pulumiv1.StackUpdateState{
		Generation: generation(run), ReconcileRequest: run.Annotations[change.ReconcileRequestAnnotation],
		Name: run.Name, Type: pulumiv1.UpdateTypeUp, State: pulumiv1.UpdateSucceeded, Message: run.Status.Message,
		LastAttemptedCommit: run.Spec.Snapshot, LastSuccessfulCommit: run.Spec.Snapshot,
		LastResyncTime: *run.Status.FinishedAt,
	}
	if run.Status.Phase != v1alpha1.RunSucceeded {
		update.State, update.LastSuccessfulCommit = pulumiv1.UpdateFailed, ""
		if old != nil {
			update.LastSuccessfulCommit = old.LastSuccessfulCommit
			if old.State == pulumiv1.UpdateFailed && old.Generation == update.Generation && old.ReconcileRequest == update.ReconcileRequest {
				update.Failures = old.Failures + 1
			}
		}
	} else {
		status.ProjectInfo = &pulumiv1.ProjectInfo{Name: run.Spec.Service, Runtime: "yaml"}
		if run.Status.Outputs != nil {
			status.Outputs = run.Status.Outputs
		}
	}
	status.LastUpdate = update
}

// verdict is the one condition a Stack is in: Ready, Reconciling or Stalled.
type verdict struct{ kind, reason, message string }

func conditionOf(stack *pulumiv1.Stack, f facts) verdict {
	last := stack.Status.LastUpdate
	switch {
	case stack.DeletionTimestamp != nil:
		return verdict{pulumiv1.StalledCondition, "DestroyNotAvailable", "Its resources are to be destroyed first, which this release cannot do through the gate yet. Destroy them with the Pulumi command line, then remove the finalizer " + Finalizer + "."}
	case f.current != nil:
		return verdict{pulumiv1.ReconcilingCondition, pulumiv1.ReasonProcessing, "stack is being processed"}
	case f.change != nil && !f.change.Status.Phase.Done() && !f.ended():
		return waiting(f)
	case f.state != nil && f.state.Phase == v1alpha1.StackRejected:
		return verdict{pulumiv1.StalledCondition, pulumiv1.ReasonApprovalRejected, f.state.Message}
	case last != nil && last.State == pulumiv1.UpdateFailed, f.state != nil && f.state.Phase == v1alpha1.StackFailed:
		message := "the last update failed"
		if f.state != nil && f.state.Message != "" {
			message = f.state.Message
		}
		return verdict{pulumiv1.StalledCondition, pulumiv1.ReasonUpdateFailed, message}
	case last == nil:
		return verdict{pulumiv1.ReconcilingCondition, pulumiv1.ReasonAwaitingApproval, "It has never been applied: propose a change for it."}
	}
	return verdict{pulumiv1.ReadyCondition, pulumiv1.ReasonProcessingCompleted, "the stack has been processed and is at " + last.LastSuccessfulCommit}
}

// ended reports whether the change is done with this Stack, though it may go on
// elsewhere.
func (f facts) ended() bool {
	return f.state != nil && slices.Contains([]v1alpha1.StackPhase{v1alpha1.StackApplied, v1alpha1.StackRejected, v1alpha1.StackFailed}, f.state.Phase)
}

func waiting(f facts) verdict {
	reason, message := pulumiv1.ReasonAwaitingApproval, fmt.Sprintf("change %s is being previewed", f.change.Name)
	if f.state != nil && f.state.Waiting != nil {
		message = fmt.Sprintf("change %s: %s", f.change.Name, f.state.Waiting.Message)
		switch f.state.Waiting.Kind {
		case v1alpha1.WaitPrerequisite, v1alpha1.WaitFreshness:
			reason = pulumiv1.ReasonPrerequisiteNotSatisfied
		case v1alpha1.WaitRetry:
			reason = pulumiv1.ReasonRetryingAfterFailure
		case v1alpha1.WaitHealth, v1alpha1.WaitApply:
			reason = pulumiv1.ReasonProcessing
		case v1alpha1.WaitPreview, v1alpha1.WaitReview, v1alpha1.WaitQueue, v1alpha1.WaitLock:
		}
	}
	return verdict{pulumiv1.ReconcilingCondition, reason, message}
}

// condition sets the conditions as the operator does: exactly one shape at a time.
func condition(stack *pulumiv1.Stack, v verdict) {
	conditions := &stack.Status.Conditions
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: stack.Generation})
	}
	for _, kind := range []string{pulumiv1.ReconcilingCondition, pulumiv1.StalledCondition} {
		if kind != v.kind {
			meta.RemoveStatusCondition(conditions, kind)
		}
	}
	switch v.kind {
	case pulumiv1.ReadyCondition:
		set(pulumiv1.ReadyCondition, metav1.ConditionTrue, v.reason, v.message)
		return
	case pulumiv1.StalledCondition:
		set(pulumiv1.ReadyCondition, metav1.ConditionFalse, pulumiv1.ReasonNotReadyStalled, "reconciliation is stalled")
	default:
		set(pulumiv1.ReadyCondition, metav1.ConditionFalse, pulumiv1.ReasonNotReadyInProgress, "reconciliation is in progress")
	}
	set(v.kind, metav1.ConditionTrue, v.reason, v.message)
}
