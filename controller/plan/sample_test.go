package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	stackURN   = "urn:pulumi:dev::orders::pulumi:pulumi:Stack::orders-dev"
	webURN     = "urn:pulumi:dev::orders::web-service:index:WebService::web"
	deployURN  = "urn:pulumi:dev::orders::web-service:index:WebService$kubernetes:apps/v1:Deployment::web-deployment"
	configURN  = "urn:pulumi:dev::orders::kubernetes:core/v1:ConfigMap::settings"
	otherURN   = "urn:pulumi:dev::orders::kubernetes:core/v1:ConfigMap::other"
	providerID = "urn:pulumi:dev::orders::pulumi:providers:kubernetes::default"
)

// secretMark is a secret as the engine's events show it.
var secretMark = map[string]any{signatureKey: secretSignature, "ciphertext": "[secret]"}

type props = map[string]any

// sampleStep is a step as the engine reports it.
type sampleStep struct {
	op, urn          string
	old, new         props // inputs; nil when the resource is not there
	oldOuts, newOuts props
	oldSide, newSide props // further fields of the resource
	diff             map[string]string
	keys, diffs      []string
}

func (s sampleStep) metadata() props {
	typ, _ := urnParts(s.urn)
	parent := stackURN
	switch s.urn {
	case stackURN:
		parent = ""
	case deployURN:
		parent = webURN
	}
	custom := s.urn != stackURN && s.urn != webURN
	side := func(inputs, outputs, more props, id string) any {
		if inputs == nil {
			return nil
		}
		out := props{
			"type": typ, "urn": s.urn, "custom": custom, "id": id, "parent": parent,
			"provider": providerID + "::1", "inputs": inputs, "outputs": outputs,
		}
		maps.Copy(out, more)
		return out
	}
	m := props{
		"op": s.op, "urn": s.urn, "type": typ, "provider": providerID + "::1",
		"old": side(s.old, s.oldOuts, s.oldSide, "id"), "new": side(s.new, s.newOuts, s.newSide, ""),
		"keys": s.keys, "diffs": s.diffs,
	}
	if s.diff != nil {
		detailed := props{}
		for p, kind := range s.diff {
			detailed[p] = props{"diffKind": kind, "inputDiff": false}
		}
		m["detailedDiff"] = detailed
	}
	return m
}

// pre is the event that announces the step, out the one that ends it.
func (s sampleStep) pre(t testing.TB) Event { return toEvent(t, "resourcePreEvent", s.metadata()) }
func (s sampleStep) out(t testing.TB) Event { return toEvent(t, "resOutputsEvent", s.metadata()) }

func toEvent(t testing.TB, kind string, metadata props) Event {
	t.Helper()
	data, err := json.Marshal(props{"sequence": 1, "timestamp": 1796069713, kind: props{"metadata": metadata, "planning": true}})
	if err != nil {
		t.Fatalf("write sample event: %v", err)
	}
	return data
}

func preEvents(t testing.TB, steps ...sampleStep) []Event {
	t.Helper()
	var out []Event
	for _, s := range steps {
		out = append(out, s.pre(t))
	}
	return out
}

// stackOutputs is the last event of the Stack.
func stackOutputs(t testing.TB, outputs props) Event {
	t.Helper()
	return sampleStep{op: opSame, urn: stackURN, old: props{}, new: props{}, newOuts: outputs}.out(t)
}

// readEvents reads an event log of a real engine.
func readEvents(t testing.TB, name string) []Event {
	t.Helper()
	return splitEvents(readFile(t, name))
}

func splitEvents(data []byte) []Event {
	var out []Event
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out = append(out, Event(line))
		}
	}
	return out
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("read sample: %v", err)
	}
	return data
}

// jsonOf is a value as plans hold it.
func jsonOf(text string) *apiextensionsv1.JSON {
	return &apiextensionsv1.JSON{Raw: []byte(text)}
}

// plainly is a secrets manager for tests: the plaintext stands behind a nonce.
func plainly(ciphertext string) (string, error) {
	var nonce int
	var plaintext string
	if _, err := fmt.Sscanf(ciphertext, "v1:%d:%q", &nonce, &plaintext); err != nil {
		return "", fmt.Errorf("read ciphertext: %w", err)
	}
	return plaintext, nil
}

func encrypted(nonce int, plaintext string) string {
	return fmt.Sprintf(`{%q:%q,"ciphertext":%q}`, signatureKey, secretSignature, fmt.Sprintf("v1:%d:%q", nonce, plaintext))
}
