// Package runnertest gives tests runners that follow a script: one in memory, and
// one that is a process, for the launcher that starts processes. Contract holds
// both to the same behaviour. It must not be imported by anything but tests.
package runnertest

import (
	"encoding/json"
	"testing"

	"github.com/towpath-dev/towpath/controller/runner"
)

// Script says what a runner does. It travels as the job's project.
type Script struct {
	// Lines are written after the first one, which says that it started.
	Lines []runner.Line
	// LeavesProcess starts a process in a session of its own that does not end when
	// it is asked to.
	LeavesProcess bool
	// Then is how it goes on.
	Then Ending
	// Last is written when a runner that waits is released.
	Last []runner.Line
}

// Ending is what a runner does after its lines.
type Ending string

// The endings.
const (
	Exit Ending = "exit" // it ends as it should
	Die  Ending = "die"  // it is killed
	Wait Ending = "wait" // it goes on until it is released, and logs each interrupt
)

// Job returns a job that follows the script.
func Job(tb testing.TB, uid string, script Script) runner.Job {
	tb.Helper()
	text, err := json.Marshal(script)
	if err != nil {
		tb.Fatal(err)
	}
	return runner.Job{RunUID: uid, Namespace: "shop", Name: "run-" + uid[:4], Project: string(text)}
}

// interrupted is what a waiting runner logs for each interrupt.
const interrupted = "interrupted"
