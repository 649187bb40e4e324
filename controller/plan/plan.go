// Package plan turns what the Pulumi engine reports into what people sign: the
// steps with their consequences, secrets masked, and the digests that a
// signature is bound to. It is pure: no I/O, no clock, no Pulumi import; it reads
// the engine's JSON.
package plan

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Plan is a preview or an apply as steps.
type Plan struct {
	// Steps, the gravest first: deletes, replaces, updates, creates; within a kind
	// by URN. A replace is one step.
	Steps   []v1alpha1.PlanStep             `json:"steps"`
	Summary v1alpha1.PlanSummary            `json:"summary"`
	Outputs map[string]apiextensionsv1.JSON `json:"outputs,omitempty"`
	// EffectDigest is sha256:<hex> over the steps in canonical form.
	EffectDigest string `json:"effectDigest"`
}

// Event is one engine event as Pulumi's event log writes it (apitype.EngineEvent
// in JSON).
type Event = json.RawMessage

// Decrypt turns a ciphertext of the stack's secrets manager into plaintext JSON.
type Decrypt func(ciphertext string) (plaintext string, err error)
