package runner

import (
	"context"
	"time"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Launcher starts runners and watches them. It is level-based: what it says of a
// run depends on what is there, not on what this process did before, so another
// controller may take over at any moment.
type Launcher interface {
	// Start starts the job's runner, once: for a run that was started before it
	// does nothing.
	Start(ctx context.Context, job Job) error
	// Observe says how a run stands.
	Observe(ctx context.Context, runUID string) (Observation, error)
	// Interrupt asks the runner to end: it interrupts the engine, and kills and
	// repairs what does not end in time. Asking again changes nothing.
	Interrupt(ctx context.Context, runUID string) error
	// Sweep ends every process that still carries the run's marker.
	Sweep(ctx context.Context, runUID string) (ended int, err error)
	// Runs lists the runs that left something behind.
	Runs(ctx context.Context) ([]string, error)
	// Remove deletes what the run left behind, its stream included.
	Remove(ctx context.Context, runUID string) error
}

// Observation is how a run stands.
type Observation struct {
	// Started says that a runner was started for it at some time.
	Started bool
	// Alive says that the runner lives.
	Alive bool
	// Heartbeat is the time of the newest line.
	Heartbeat time.Time
	// Doing is the last heartbeat's word.
	Doing string
	// Steps and Log are all there are so far.
	Steps []v1alpha1.PlanStep
	Log   []v1alpha1.LogLine
	// Result is set once the runner has finished.
	Result *Result
	// Stream is the raw stream, to be kept when the run has ended.
	Stream []byte
}
