package runner

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Line is one line of the runner's event stream: JSON, one object a line, in the
// order of things. Exactly one of Start, Log, Step, Heartbeat and Result is set.
// Every text in it is scrubbed of secrets before it leaves the runner.
type Line struct {
	Time      time.Time          `json:"time"`
	Start     *Start             `json:"start,omitempty"`
	Log       *Log               `json:"log,omitempty"`
	Step      *v1alpha1.PlanStep `json:"step,omitempty"`
	Heartbeat *Heartbeat         `json:"heartbeat,omitempty"`
	Result    *Result            `json:"result,omitempty"`
}

// Start is the first line.
type Start struct {
	PID int `json:"pid"`
	// Tools are the versions of what runs, by name.
	Tools map[string]string `json:"tools,omitempty"`
}

// Log is a line for people.
type Log struct {
	// Severity is info, warning or error.
	Severity string `json:"severity"`
	Text     string `json:"text"`
}

// Heartbeat says that the runner lives, every few seconds.
type Heartbeat struct {
	// Doing says what with, as in "previewing", "applying".
	Doing string `json:"doing"`
}

// Result is the last line.
type Result struct {
	Phase   v1alpha1.RunPhase     `json:"phase"`
	Message string                `json:"message"`
	Summary *v1alpha1.PlanSummary `json:"summary,omitempty"`

	PlanDigest   string            `json:"planDigest,omitempty"`
	EffectDigest string            `json:"effectDigest,omitempty"`
	Inputs       map[string]string `json:"inputs,omitempty"`
	// State is a digest of each resource in the stack's state by URN, to say later
	// which of them changed (Job.ApprovedState).
	State map[string]string `json:"state,omitempty"`

	// Outputs of the stack, secrets as "[secret]".
	Outputs map[string]apiextensionsv1.JSON `json:"outputs,omitempty"`
	// Objects are the Kubernetes objects that the stack now has, for health.
	Objects []v1alpha1.ObjectReference `json:"objects,omitempty"`
	// Differences say why the run diverged.
	Differences []v1alpha1.Difference `json:"differences,omitempty"`
	// Retryable failures are not the Program's fault.
	Retryable bool `json:"retryable,omitempty"`
	// NeedsRepair says that the next Up must first clear pending operations.
	NeedsRepair bool `json:"needsRepair,omitempty"`
}
