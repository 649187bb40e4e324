package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
	"github.com/towpath-dev/towpath/controller/plan"
)

// report is what is remembered of an operation's events.
type report struct {
	// errors are the engine's diagnostics of that severity.
	errors []string
	// finished says that the engine came to its end.
	finished bool
	err      error
}

// succeeded says that the engine did all its work.
func (r *report) succeeded() bool { return r.finished && len(r.errors) == 0 }

func (r *report) read(event events.EngineEvent, each func(plan.Event)) {
	if event.Error != nil {
		r.fail(fmt.Errorf("read an engine event: %w", event.Error))
		return
	}
	if d := event.DiagnosticEvent; d != nil && d.Severity == "error" {
		r.errors = append(r.errors, diagnostic(d))
	}
	if event.SummaryEvent != nil {
		r.finished = true
	}
	text, err := json.Marshal(event.EngineEvent)
	if err != nil {
		r.fail(fmt.Errorf("read an engine event: %w", err))
		return
	}
	each(text)
}

func (r *report) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// diagnostic is a diagnostic's text with the resource that it is about.
func diagnostic(d *apitype.DiagnosticEvent) string {
	text := strings.TrimSpace(scrub.Plain(d.Message))
	if d.URN == "" {
		return text
	}
	if name := d.URN[strings.LastIndex(d.URN, "::")+2:]; !strings.Contains(text, name) {
		return name + ": " + text
	}
	return text
}
