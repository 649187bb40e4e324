package engine

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"

	"github.com/towpath-dev/towpath/controller/plan"
)

// report is what is remembered of an operation's events.
type report struct {
	// errors are the engine's diagnostics of that severity.
	errors []string
	// complaints are what the program's language host wrote on its standard error:
	// it says there what is wrong with a program.
	complaints []string
	err        error
}

func (r *report) read(event events.EngineEvent, each func(plan.Event)) {
	if event.Error != nil {
		r.fail(fmt.Errorf("read an engine event: %w", event.Error))
		return
	}
	if d := event.DiagnosticEvent; d != nil {
		switch d.Severity {
		case "error":
			r.errors = append(r.errors, d.Message)
		case "info#err":
			r.complaints = append(r.complaints, d.Message)
		}
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
