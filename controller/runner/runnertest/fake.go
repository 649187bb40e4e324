package runnertest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

// Fake is a launcher whose runners live in memory. A job whose project is no
// Script gets one that waits.
type Fake struct {
	// Refuses makes every start fail.
	Refuses error

	mu   sync.Mutex
	runs map[string]*fakeRun
	jobs []runner.Job
}

var _ runner.Launcher = (*Fake)(nil)

type fakeRun struct {
	script      Script
	alive       bool
	left        bool
	interrupted bool
	seen        runner.Observation
}

// Jobs are those that were started, in order.
func (f *Fake) Jobs() []runner.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.jobs)
}

// Say makes the runner of a run write lines.
func (f *Fake) Say(uid string, lines ...runner.Line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[uid].say(lines...)
}

// Release makes a runner that waits write its last lines and end.
func (f *Fake) Release(uid string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run := f.runs[uid]
	run.say(run.script.Last...)
	run.alive = false
}

// Kill ends a runner without a word.
func (f *Fake) Kill(uid string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[uid].alive = false
}

func (r *fakeRun) say(lines ...runner.Line) {
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			panic(fmt.Sprintf("a line that is no JSON: %v", err))
		}
		r.seen.Stream = append(append(r.seen.Stream, text...), '\n')
		r.seen.Heartbeat = line.Time
		switch {
		case line.Log != nil:
			r.seen.Log = append(r.seen.Log, v1alpha1.LogLine{Time: metav1.NewTime(line.Time), Severity: line.Log.Severity, Text: line.Log.Text})
		case line.Step != nil:
			r.seen.Steps = append(r.seen.Steps, *line.Step)
		case line.Heartbeat != nil:
			r.seen.Doing = line.Heartbeat.Doing
		case line.Result != nil:
			r.seen.Result = line.Result
		}
	}
}

// Start implements runner.Launcher.
func (f *Fake) Start(_ context.Context, job runner.Job) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runs == nil {
		f.runs = map[string]*fakeRun{}
	}
	if f.runs[job.RunUID] != nil {
		return nil
	}
	run := &fakeRun{seen: runner.Observation{Started: true}}
	f.runs[job.RunUID] = run
	if f.Refuses != nil {
		return f.Refuses
	}
	if json.Unmarshal([]byte(job.Project), &run.script) != nil {
		run.script = Script{Then: Wait}
	}
	f.jobs = append(f.jobs, job)
	run.left = run.script.LeavesProcess
	run.alive = run.script.Then == Wait
	run.say(runner.Line{Time: time.Now().UTC(), Start: &runner.Start{PID: 1}})
	run.say(run.script.Lines...)
	return nil
}

// Observe implements runner.Launcher.
func (f *Fake) Observe(_ context.Context, uid string) (runner.Observation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run := f.runs[uid]
	if run == nil {
		return runner.Observation{}, nil
	}
	seen := run.seen
	seen.Alive = run.alive
	seen.Steps, seen.Log, seen.Stream = slices.Clone(seen.Steps), slices.Clone(seen.Log), slices.Clone(seen.Stream)
	return seen, nil
}

// Interrupt implements runner.Launcher.
func (f *Fake) Interrupt(_ context.Context, uid string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if run := f.runs[uid]; run != nil && run.alive && !run.interrupted {
		run.interrupted = true
		run.say(runner.Line{Time: time.Now().UTC(), Log: &runner.Log{Severity: "info", Text: interrupted}})
	}
	return nil
}

// Sweep implements runner.Launcher.
func (f *Fake) Sweep(_ context.Context, uid string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run, ended := f.runs[uid], 0
	if run == nil {
		return 0, nil
	}
	for _, lives := range []*bool{&run.alive, &run.left} {
		if *lives {
			*lives = false
			ended++
		}
	}
	return ended, nil
}

// Runs implements runner.Launcher.
func (f *Fake) Runs(context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.runs)), nil
}

// Remove implements runner.Launcher.
func (f *Fake) Remove(_ context.Context, uid string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.runs, uid)
	return nil
}
