package operation

import (
	"encoding/json"
	"strings"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	"github.com/towpath-dev/towpath/controller/plan"
)

// engineEvent is the part of an engine event that the log is made from.
type engineEvent struct {
	Diagnostic *struct {
		URN       string `json:"urn"`
		Message   string `json:"message"`
		Severity  string `json:"severity"`
		Ephemeral bool   `json:"ephemeral"`
	} `json:"diagnosticEvent"`
	Done *struct {
		Metadata metadata `json:"metadata"`
	} `json:"resOutputsEvent"`
	Failed *struct {
		Metadata metadata `json:"metadata"`
	} `json:"resOpFailedEvent"`
}

type metadata struct {
	Op   string `json:"op"`
	URN  string `json:"urn"`
	Type string `json:"type"`
}

// pendingWarning begins the engine's advice on pending operations, which asks for
// commands that nobody can run here; the repair says its own.
const pendingWarning = "Attempting to deploy or update resources with"

// configurationWarning is what Pulumi YAML says of the field that Programs keep
// their config in. The name is the operator's: nobody here can act on it.
const configurationWarning = "Pulumi.yaml: root-level `configuration` field is deprecated; please use `config` instead."

// logDiagnostic passes the engine's diagnostics on.
func (s *session) logDiagnostic(event plan.Event) {
	var e engineEvent
	if json.Unmarshal(event, &e) != nil || e.Diagnostic == nil || e.Diagnostic.Ephemeral ||
		strings.HasPrefix(e.Diagnostic.Message, pendingWarning) || saysOnly(e.Diagnostic.Message, configurationWarning) {
		return
	}
	d := e.Diagnostic
	severity := stream.Info
	switch d.Severity {
	case stream.Warning, stream.Error:
		severity = d.Severity
	case "debug":
		return
	}
	text := d.Message
	if name := logicalName(d.URN); name != "" && !strings.Contains(text, name) {
		text = name + ": " + text
	}
	s.out.Logf(severity, "%s", text)
}

// saysOnly reports whether a diagnostic is this warning and nothing else.
func saysOnly(message, warning string) bool {
	return strings.TrimPrefix(strings.TrimSpace(scrub.Plain(message)), "Warning: ") == warning
}

var done = map[string]string{
	"create": "Created", "update": "Updated", "delete": "Deleted",
	"create-replacement": "Created the replacement of", "delete-replaced": "Deleted what was replaced of",
}

// logProgress says what an apply has done.
func (s *session) logProgress(event plan.Event) {
	var e engineEvent
	if json.Unmarshal(event, &e) != nil {
		return
	}
	switch {
	case e.Done != nil:
		if word := done[e.Done.Metadata.Op]; word != "" && isEffective(e.Done.Metadata) {
			s.out.Logf(stream.Info, "%s %s.", word, e.Done.Metadata.title())
		}
	case e.Failed != nil:
		s.out.Logf(stream.Error, "The %s of %s failed.", e.Failed.Metadata.Op, e.Failed.Metadata.title())
	}
}

// isEffective leaves out what has no effect of its own.
func isEffective(m metadata) bool {
	return !strings.HasPrefix(m.Type, "pulumi:") && strings.Count(m.URN, "::") >= 3
}

func (m metadata) title() string {
	return m.Type[strings.LastIndexByte(m.Type, ':')+1:] + " " + logicalName(m.URN)
}

func logicalName(urn string) string {
	i := strings.LastIndex(urn, "::")
	if i < 0 {
		return ""
	}
	return urn[i+2:]
}
