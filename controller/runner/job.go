// Package runner is the contract between the controller and towpath-runner, the
// only program that links Pulumi, and the launchers that start it. It must not
// import Pulumi and must not decide whether an operation may run.
package runner

import (
	"encoding/json"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Job is one engine operation with everything it needs. It holds secrets: it
// travels on the runner's standard input and is never written to disk, logged or
// stored.
type Job struct {
	// RunUID identifies the Run; it names the run's folder and marks every process
	// that descends from the runner (environment variable RunMarker).
	RunUID string `json:"runUID"`
	// Namespace and Name are the Run's, for messages.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	Operation v1alpha1.Operation `json:"operation"`

	// Project is the text of Pulumi.yaml, as the Program gives it: its packages
	// may name golden paths, which the runner hosts and takes out.
	Project string `json:"project"`
	// ProjectName is the Pulumi project; config keys without a namespace get it.
	ProjectName string `json:"projectName"`
	// Stack is the Pulumi stack, as in organization/orders/dev.
	Stack string `json:"stack"`
	// Backend is the URL of the state backend.
	Backend string `json:"backend"`
	// SecretsProvider is "" or "passphrase" in process mode today.
	SecretsProvider string `json:"secretsProvider,omitempty"`

	// Env is added to the engine's environment; it holds PULUMI_CONFIG_PASSPHRASE.
	Env map[string]string `json:"env,omitempty"`
	// Config is plain stack config.
	Config map[string]json.RawMessage `json:"config,omitempty"`
	// Secrets is secret stack config.
	Secrets map[string]string `json:"secrets,omitempty"`

	// GoldenPaths are hosted in the runner's process.
	GoldenPaths []HostedGoldenPath `json:"goldenPaths,omitempty"`

	// Kubeconfig is the text of a kubeconfig for the operation's identity.
	Kubeconfig string `json:"kubeconfig"`

	// Inputs are the digests of what the controller knows. The runner adds
	// "secrets", "cluster" and "state" and, with the effect digest, makes the plan
	// digest of all of them.
	Inputs map[string]string `json:"inputs,omitempty"`
	// Approved is what an Up must find unchanged; nil for a Preview.
	Approved *v1alpha1.ApprovedPlan `json:"approved,omitempty"`
	// ApprovedSteps and ApprovedState are the whole steps of the approved plan and
	// the Result.State of its preview, if they are still known: the runner uses
	// them only to say what differs, never to decide.
	ApprovedSteps []v1alpha1.PlanStep `json:"approvedSteps,omitempty"`
	ApprovedState map[string]string   `json:"approvedState,omitempty"`
	// DigestKey keys the HMAC that stands for secrets in digests.
	DigestKey []byte `json:"digestKey"`

	// Dir is the run's private folder; the runner makes and empties it, save for
	// the stream.
	Dir string `json:"dir"`
	// PulumiHome is a PULUMI_HOME whose plugins folder holds the providers.
	PulumiHome string `json:"pulumiHome"`
	// Toolchain is the folder with pulumi and pulumi-language-yaml.
	Toolchain string `json:"toolchain"`
}

// HostedGoldenPath is a golden path version with its content.
type HostedGoldenPath struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Digest is what the content must hash to (goldenpaths.Digest).
	Digest string `json:"digest"`
	// Token is the component's type token.
	Token string `json:"token"`
	// Component is the text of PulumiPlugin.yaml.
	Component string `json:"component"`
}

// RunMarker is the environment variable that marks every process of a run with
// the Run's UID, so that leftovers of a dead runner can be found and ended.
const RunMarker = "TOWPATH_RUN_UID"

// StreamFile is the name of the event stream in a run's folder, and LockFile of
// the file that the runner holds an exclusive flock on while it lives.
const (
	StreamFile = "stream.jsonl"
	LockFile   = "runner.lock"
)
