package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
)

// Operation is what the engine does.
//
// +kubebuilder:validation:Enum=Preview;Up;Refresh;Destroy
type Operation string

// The operations.
const (
	Preview Operation = "Preview"
	Up      Operation = "Up"
	Refresh Operation = "Refresh"
	Destroy Operation = "Destroy"
)

// Run is the durable record of one engine operation. Only the controller writes
// Runs.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=towpath
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Stack",type=string,JSONPath=`.spec.stackName`
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.spec.operation`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.status.summary.text`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Run struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RunSpec `json:"spec"`
	// +optional
	Status RunStatus `json:"status,omitempty"`
}

// RunList is a list of Runs.
//
// +kubebuilder:object:root=true
type RunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Run `json:"items"`
}

// RunSpec is everything that decides what the operation does, without secrets.
type RunSpec struct {
	Operation Operation `json:"operation"`
	// ChangeRequest that the run belongs to, if any.
	// +optional
	ChangeRequest string `json:"changeRequest,omitempty"`
	Environment   string `json:"environment"`
	// Service is the Pulumi project.
	Service string `json:"service"`
	// StackName is the name of the Stack object.
	StackName string `json:"stackName"`
	// Stack is the Stack's spec as this run uses it. References to Secrets are
	// resolved when the run starts.
	Stack pulumiv1.StackSpec `json:"stack"`
	// Snapshot is the ControllerRevision that holds the Program.
	Snapshot string `json:"snapshot"`
	// GoldenPaths are hosted by the runner at exactly these digests.
	// +optional
	// +listType=map
	// +listMapKey=name
	GoldenPaths []PinnedGoldenPath `json:"goldenPaths,omitempty"`
	// ServiceAccountName is the identity of the operation.
	ServiceAccountName string `json:"serviceAccountName"`
	// Inputs are the digests of what the controller knows, by name; the runner
	// adds those that only it can see.
	// +optional
	Inputs map[string]string `json:"inputs,omitempty"`
	// Approved is the plan that an Up must find unchanged.
	// +optional
	Approved *ApprovedPlan `json:"approved,omitempty"`
	// Attempt numbers runs of the same operation on the same inputs.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// Cancel asks the run to end: first an interrupt, then a kill with repair.
	// It is the only field that may change.
	// +optional
	Cancel bool `json:"cancel,omitempty"`
}

// ApprovedPlan is what was signed.
type ApprovedPlan struct {
	Digest       string            `json:"digest"`
	EffectDigest string            `json:"effectDigest"`
	Inputs       map[string]string `json:"inputs,omitempty"`
	// Preview is the Run whose plan was signed.
	Preview string `json:"preview"`
}

// RunPhase is where a run stands.
type RunPhase string

// The phases of a run.
const (
	RunPending     RunPhase = "Pending"     // waits for a worker or for another run on the same stack
	RunRunning     RunPhase = "Running"     // the runner is at work
	RunSucceeded   RunPhase = "Succeeded"   // the engine finished without error
	RunFailed      RunPhase = "Failed"      // the engine said no; the message says why
	RunDiverged    RunPhase = "Diverged"    // the world is not what was approved; nothing was touched
	RunInterrupted RunPhase = "Interrupted" // stopped on request or with its parent; state is clean
	RunLost        RunPhase = "Lost"        // the runner died without a result
)

// Done reports whether the run has ended.
func (p RunPhase) Done() bool {
	switch p {
	case RunSucceeded, RunFailed, RunDiverged, RunInterrupted, RunLost:
		return true
	case RunPending, RunRunning:
		return false
	}
	return false
}

// RunStatus is the progress and the result.
type RunStatus struct {
	// +optional
	Phase RunPhase `json:"phase,omitempty"`
	// Message is one sentence for people.
	// +optional
	Message string `json:"message,omitempty"`
	// Holder is the controller instance that follows the run; a new one takes
	// over under a higher epoch.
	// +optional
	Holder string `json:"holder,omitempty"`
	// +optional
	Epoch int64 `json:"epoch,omitempty"`
	// Heartbeat is the last sign of life of the runner.
	// +optional
	Heartbeat *metav1.Time `json:"heartbeat,omitempty"`
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// Waiting says why a pending run does not start.
	// +optional
	Waiting *Waiting `json:"waiting,omitempty"`
	// Summary counts the steps.
	// +optional
	Summary *PlanSummary `json:"summary,omitempty"`
	// PlanDigest, EffectDigest and Inputs identify the plan that was made.
	// +optional
	PlanDigest string `json:"planDigest,omitempty"`
	// +optional
	EffectDigest string `json:"effectDigest,omitempty"`
	// +optional
	Inputs map[string]string `json:"inputs,omitempty"`
	// Plan is the plan for people, secrets masked, as much of it as fits.
	// +optional
	Plan *RunPlan `json:"plan,omitempty"`
	// Outputs of the stack; secret ones read "[secret]".
	// +optional
	Outputs map[string]apiextensionsv1.JSON `json:"outputs,omitempty"`
	// Objects are the Kubernetes objects that the stack has after an Up, for
	// health, as many as fit.
	// +optional
	// +listType=atomic
	Objects []ObjectReference `json:"objects,omitempty"`
	// Differences say why a run diverged.
	// +optional
	// +listType=atomic
	Differences []Difference `json:"differences,omitempty"`
	// Log is the end of the log.
	// +optional
	Log *RunLog `json:"log,omitempty"`
	// Artefacts are the keys of the whole plan and log in the blob store.
	// +optional
	Artefacts Artefacts `json:"artefacts,omitempty"`
	// Retryable failures are not the Program's fault; they are tried again.
	// +optional
	Retryable bool `json:"retryable,omitempty"`
}

// ObjectReference identifies a Kubernetes object.
type ObjectReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Artefacts are keys in the blob store.
type Artefacts struct {
	// +optional
	Plan string `json:"plan,omitempty"`
	// +optional
	Log string `json:"log,omitempty"`
}

// RunPlan is a plan for people.
type RunPlan struct {
	// Steps, the gravest first: deletes, replaces, updates, creates.
	// +listType=atomic
	Steps []PlanStep `json:"steps"`
	// Omitted is how many steps did not fit here; the artefact has them all.
	// +optional
	Omitted int32 `json:"omitted,omitempty"`
}

// StepKind is what happens to a resource.
type StepKind string

// The kinds of steps.
const (
	StepCreate  StepKind = "Create"
	StepUpdate  StepKind = "Update"
	StepReplace StepKind = "Replace"
	StepDelete  StepKind = "Delete"
)

// PlanStep is what happens to one resource.
type PlanStep struct {
	Kind StepKind `json:"kind"`
	URN  string   `json:"urn"`
	// Type is the Pulumi type token.
	Type string `json:"type"`
	// Name is the logical name.
	Name string `json:"name"`
	// Parent is the logical name of the component instance it belongs to.
	// +optional
	Parent string `json:"parent,omitempty"`
	// Object is namespace/name in the cluster, if it is a Kubernetes object.
	// +optional
	Object string `json:"object,omitempty"`
	// Component instances have no effect of their own; their children do.
	// +optional
	Component bool `json:"component,omitempty"`
	// Changes are the properties that change.
	// +optional
	// +listType=atomic
	Changes []PropertyChange `json:"changes,omitempty"`
	// Omitted is how many changes did not fit here.
	// +optional
	Omitted int32 `json:"omitted,omitempty"`
}

// PropertyChange is one property before and after. Values are JSON; a secret is
// "[secret]", a value known only after the apply is "[unknown]".
type PropertyChange struct {
	Path string `json:"path"`
	// +optional
	Old *apiextensionsv1.JSON `json:"old,omitempty"`
	// +optional
	New *apiextensionsv1.JSON `json:"new,omitempty"`
	// Replaces says that this change is why the resource is replaced.
	// +optional
	Replaces bool `json:"replaces,omitempty"`
}

// RunLog is the end of a run's log.
type RunLog struct {
	// +listType=atomic
	Lines []LogLine `json:"lines"`
	// Omitted is how many earlier lines are only in the artefact.
	// +optional
	Omitted int32 `json:"omitted,omitempty"`
}

// LogLine is one line of a log, scrubbed of secrets.
type LogLine struct {
	Time metav1.Time `json:"time"`
	// Severity is info, warning or error.
	Severity string `json:"severity"`
	Text     string `json:"text"`
}
