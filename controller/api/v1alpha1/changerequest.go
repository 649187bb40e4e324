package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
)

// ChangeRequest proposes a Program for a service in one or more environments.
// To change a proposal, propose again: the older one is then superseded.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=cr,categories=towpath
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Service",type=string,JSONPath=`.spec.service`
// +kubebuilder:printcolumn:name="Author",type=string,JSONPath=`.spec.author.username`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="a change request's name has at most 63 characters: it is used as a label"
type ChangeRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ChangeRequestSpec `json:"spec"`
	// +optional
	Status ChangeRequestStatus `json:"status,omitempty"`
}

// ChangeRequestList is a list of ChangeRequests.
//
// +kubebuilder:object:root=true
type ChangeRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ChangeRequest `json:"items"`
}

// ChangeRequestSpec is the proposal. Only withdrawn may change, and only once.
//
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.withdrawn) && oldSelf.withdrawn) || (has(self.withdrawn) && self.withdrawn)",message="a withdrawn change stays withdrawn: propose again"
type ChangeRequestSpec struct {
	// Service is the name of the Program, and of the Pulumi project.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=30
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Service string `json:"service"`
	// Description tells reviewers what the change is for.
	// +optional
	// +kubebuilder:validation:MaxLength=4000
	Description string `json:"description,omitempty"`
	// Program is the proposed content of the Program.
	Program pulumiv1.ProgramSpec `json:"program"`
	// Environments are those that the change is meant for, each with its own
	// values.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=name
	Environments []EnvironmentProposal `json:"environments"`
	// Author is written by admission.
	// +optional
	// +kubebuilder:default={}
	Author Person `json:"author"`
	// Withdrawn takes the proposal back. What is applied stays.
	// +optional
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// EnvironmentProposal is what a change proposes for one environment.
type EnvironmentProposal struct {
	Name EnvironmentName `json:"name"`
	// Config sets the Stack's config: values for what the Program declares under
	// configuration. Keys that are absent keep the Stack's value.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`
	// SecretsRef sets secret config from Kubernetes Secrets.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	SecretsRef map[string]SecretKeyRef `json:"secretsRef,omitempty"`
}

// SecretKeyRef names a key of a Secret in the same namespace.
type SecretKeyRef struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// ChangePhase is where a change stands as a whole.
type ChangePhase string

// The phases of a change.
const (
	ChangeRefused    ChangePhase = "Refused"        // it can never be previewed as written
	ChangePreviewing ChangePhase = "Previewing"     // plans are being made
	ChangeInReview   ChangePhase = "AwaitingReview" // somebody has to sign
	ChangeApplying   ChangePhase = "Applying"       // on its way through the environments
	ChangeApplied    ChangePhase = "Applied"        // applied and healthy everywhere
	ChangeRejected   ChangePhase = "Rejected"       // somebody said no
	ChangeFailed     ChangePhase = "Failed"         // a preview, apply or health check failed
	ChangeWithdrawn  ChangePhase = "Withdrawn"      // taken back
	ChangeSuperseded ChangePhase = "Superseded"     // a newer one took its place
)

// Done reports whether nothing more will happen to a change in this phase.
func (p ChangePhase) Done() bool {
	switch p {
	case ChangeRefused, ChangeApplied, ChangeRejected, ChangeFailed, ChangeWithdrawn, ChangeSuperseded:
		return true
	case ChangePreviewing, ChangeInReview, ChangeApplying:
		return false
	}
	return false
}

// ChangeRequestStatus is where a change stands.
type ChangeRequestStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	Phase ChangePhase `json:"phase,omitempty"`
	// Progress is one word per environment, for lists.
	// +optional
	Progress string `json:"progress,omitempty"`
	// Message is one sentence: what happens now, or what went wrong.
	// +optional
	Message string `json:"message,omitempty"`
	// Problems say where the proposal is wrong.
	// +optional
	// +listType=atomic
	Problems []Problem `json:"problems,omitempty"`
	// Snapshot is the ControllerRevision that holds the proposed Program.
	// +optional
	Snapshot string `json:"snapshot,omitempty"`
	// GoldenPaths pins the golden path versions that the Program uses.
	// +optional
	// +listType=map
	// +listMapKey=name
	GoldenPaths []PinnedGoldenPath `json:"goldenPaths,omitempty"`
	// Stacks is the state per environment, in the order of application.
	// +optional
	// +listType=map
	// +listMapKey=environment
	Stacks []StackChange `json:"stacks,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Problem is a fault of a proposal at a place in it.
type Problem struct {
	// Path is where, as in resources.db.properties.storage.
	Path string `json:"path,omitempty"`
	// Message is what is wrong and what to do.
	Message string `json:"message"`
}

// PinnedGoldenPath is a golden path version with the digest it had.
type PinnedGoldenPath struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// StackPhase is where a change stands in one environment.
type StackPhase string

// The phases of a change in one environment.
const (
	StackPending    StackPhase = "Pending"        // not previewed yet
	StackPreviewing StackPhase = "Previewing"     // the plan is being made
	StackInReview   StackPhase = "AwaitingReview" // the plan waits for a signature
	StackApproved   StackPhase = "Approved"       // signed; waits for its turn
	StackApplying   StackPhase = "Applying"       // the apply runs
	StackVerifying  StackPhase = "Verifying"      // applied; health is awaited
	StackApplied    StackPhase = "Applied"        // applied and healthy
	StackRejected   StackPhase = "Rejected"       // somebody said no
	StackFailed     StackPhase = "Failed"         // preview, apply or health failed
)

// WaitKind says what a Stack waits for.
type WaitKind string

// The reasons to wait.
const (
	WaitPreview      WaitKind = "Preview"
	WaitReview       WaitKind = "Review"
	WaitPrerequisite WaitKind = "Prerequisite"
	WaitFreshness    WaitKind = "Freshness"
	WaitHealth       WaitKind = "Health"
	WaitQueue        WaitKind = "Queue"
	WaitLock         WaitKind = "Lock"
	WaitRetry        WaitKind = "Retry"
	WaitApply        WaitKind = "Apply"
)

// Waiting says why nothing moves, who can move it and when it is looked at next.
type Waiting struct {
	Kind WaitKind `json:"kind"`
	// Message is one sentence.
	Message string `json:"message"`
	// Who can act.
	// +optional
	Who string `json:"who,omitempty"`
	// Since when it waits for this.
	// +optional
	Since metav1.Time `json:"since,omitempty"`
	// NextLook is when the controller looks again by itself.
	// +optional
	NextLook *metav1.Time `json:"nextLook,omitempty"`
}

// StackChange is a change in one environment.
type StackChange struct {
	Environment string `json:"environment"`
	// Stack is the name of the Stack object.
	Stack string     `json:"stack"`
	Phase StackPhase `json:"phase"`
	// Waiting is absent when the environment is done.
	// +optional
	Waiting *Waiting `json:"waiting,omitempty"`
	// Message says how it ended, or what went wrong last.
	// +optional
	Message string `json:"message,omitempty"`
	// Preview is the Run that made the current plan.
	// +optional
	Preview string `json:"preview,omitempty"`
	// Attempt numbers the previews of this environment; an input that changed
	// begins a new one.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// Plan is what reviewers sign.
	// +optional
	Plan *PlanReference `json:"plan,omitempty"`
	// Editors have changed the Program or Stack that the plan is made from, by
	// another door than the change. Like the author, they cannot approve it.
	// +optional
	// +listType=atomic
	Editors []string `json:"editors,omitempty"`
	// Approval is how the plan came to be approved.
	// +optional
	Approval *Approval `json:"approval,omitempty"`
	// Apply is the Run that applies or applied the plan.
	// +optional
	Apply string `json:"apply,omitempty"`
	// ApplyAttempt numbers the applies of the current plan.
	// +optional
	ApplyAttempt int32 `json:"applyAttempt,omitempty"`
	// AppliedAt is when it was applied and healthy.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`
	// Differences say what changed between the plan and the world, if that made
	// the plan void.
	// +optional
	// +listType=atomic
	Differences []Difference `json:"differences,omitempty"`
}

// PlanReference identifies a plan and says how big it is.
type PlanReference struct {
	// Digest covers inputs and steps; reviews name it.
	Digest string `json:"digest"`
	// EffectDigest covers the steps alone.
	EffectDigest string `json:"effectDigest"`
	// Inputs are the digests of what went into the plan, by name.
	// +optional
	Inputs map[string]string `json:"inputs,omitempty"`
	// StackGeneration is the generation of the Stack object the plan was made
	// for; 0 when the change creates it.
	// +optional
	StackGeneration int64       `json:"stackGeneration,omitempty"`
	Summary         PlanSummary `json:"summary"`
}

// PlanSummary counts resources.
type PlanSummary struct {
	Create  int32 `json:"create"`
	Update  int32 `json:"update"`
	Replace int32 `json:"replace"`
	Delete  int32 `json:"delete"`
	Same    int32 `json:"same"`
	// Text is the counts in words, for lists.
	// +optional
	Text string `json:"text,omitempty"`
}

// Empty reports whether the plan changes nothing.
func (s PlanSummary) Empty() bool {
	return s.Create == 0 && s.Update == 0 && s.Replace == 0 && s.Delete == 0
}

// Approval is a plan's way through the gate.
type Approval struct {
	// Automatic approvals carry the rule's reason instead of people.
	// +optional
	Automatic bool   `json:"automatic,omitempty"`
	Reason    string `json:"reason"`
	// By are the approvers.
	// +optional
	// +listType=atomic
	By []string    `json:"by,omitempty"`
	At metav1.Time `json:"at"`
}

// Difference is one thing that is not as it was when the plan was made.
type Difference struct {
	// What names an input (state, program, cluster …) or a resource.
	What string `json:"what"`
	// Detail says in words how it differs, secrets masked.
	Detail string `json:"detail"`
}
