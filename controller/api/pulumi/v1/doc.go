// Package v1 holds the Pulumi Kubernetes Operator's kinds, group pulumi.com:
// Stack and Program, schema-compatible with release 2.9 of the operator, so that
// people keep their manifests and may go back. No field of Towpath's is added.
// It is data only: it decides nothing.
//
// +kubebuilder:object:generate=true
// +groupName=pulumi.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "pulumi.com", Version: "v1"}

// AddToScheme registers every kind of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Stack{}, &StackList{}, &Program{}, &ProgramList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// ReconciliationRequestAnnotation asks for one run: any new value does.
const ReconciliationRequestAnnotation = "pulumi.com/reconciliation-request"

// Condition types and reasons, as the operator spells them.
const (
	ReadyCondition       = "Ready"
	ReconcilingCondition = "Reconciling"
	StalledCondition     = "Stalled"

	ReasonProcessingCompleted      = "ProcessingCompleted"
	ReasonNotReadyInProgress       = "NotReadyInProgress"
	ReasonNotReadyStalled          = "NotReadyStalled"
	ReasonProcessing               = "StackProcessing"
	ReasonRetryingAfterFailure     = "RetryingAfterFailure"
	ReasonPrerequisiteNotSatisfied = "PrerequisiteNotSatisfied"
	ReasonUpdateFailed             = "UpdateFailed"

	// ReasonAwaitingApproval is Towpath's: the Stack waits for a signature.
	ReasonAwaitingApproval = "AwaitingApproval"
	// ReasonApprovalRejected is Towpath's: a reviewer rejected the plan.
	ReasonApprovalRejected = "ApprovalRejected"
)
