package operation

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/controller/runner"
)

func TestTheLogLeavesOutWhatNobodyCanActOn(t *testing.T) {
	const configuration = "Warning: Pulumi.yaml: root-level `configuration` field is deprecated; please use `config` instead.\n"
	tests := map[string]struct {
		message string
		want    []string
	}{
		"the field that the operator named":        {configuration, nil},
		"the same in colour":                       {"\x1b[33m" + configuration + "\x1b[0m", nil},
		"the same with something else":             {configuration + "\nWarning: resource web is deprecated", []string{configuration + "\nWarning: resource web is deprecated"}},
		"another deprecation":                      {"Pulumi.yaml: root-level `variables` field is deprecated", []string{"Pulumi.yaml: root-level `variables` field is deprecated"}},
		"advice to run commands on the state file": {pendingWarning + " 1 pending operations from previous deployment.", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			event, err := json.Marshal(map[string]any{"diagnosticEvent": map[string]any{"message": tc.message, "severity": "info"}})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			s := &session{out: stream.New(&out, scrub.New(), time.Now)}
			s.logDiagnostic(plan.Event(event))
			if diff := cmp.Diff(tc.want, logged(t, &out)); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// logged are the texts in an event stream.
func logged(t *testing.T, out *bytes.Buffer) []string {
	t.Helper()
	var texts []string
	for decoder := json.NewDecoder(out); decoder.More(); {
		var line runner.Line
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, line.Log.Text)
	}
	return texts
}
