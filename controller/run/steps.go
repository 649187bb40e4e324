package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/controller/runner"
	"github.com/towpath-dev/towpath/internal/fault"
)

const (
	// planBytes and logLines bound what a Run's status holds; the blob store has
	// the rest. An object in etcd has 1.5 MiB at most.
	planBytes  = 256 << 10
	logLines   = 200
	maxObjects = 500
)

// queue reports whether a run has to wait: for a run on the same Pulumi stack
// that came first, or for a free worker. It says so in the status.
func (r *Reconciler) queue(ctx context.Context, run *v1alpha1.Run) (bool, error) {
	var all v1alpha1.RunList
	if err := r.Live.List(ctx, &all); err != nil {
		return false, fmt.Errorf("list runs: %w", err)
	}
	wait := turn(*run, all.Items, r.Workers)
	if wait != nil {
		wait.Since = metav1.NewTime(r.Clock.Now())
		if old := run.Status.Waiting; old != nil && old.Kind == wait.Kind {
			wait.Since = old.Since
		}
	}
	run.Status.Waiting = wait
	run.Status.Phase = v1alpha1.RunPending
	return wait != nil, nil
}

// turn is the order of runs: one at a time per Pulumi stack, the oldest first,
// and no more than workers in all. nil means go.
func turn(run v1alpha1.Run, all []v1alpha1.Run, workers int) *v1alpha1.Waiting {
	running := 0
	for _, other := range all {
		if other.UID == run.UID || other.Status.Phase.Done() {
			continue
		}
		if other.Status.Phase == v1alpha1.RunRunning {
			running++
		}
		if other.Labels[v1alpha1.StackKeyLabel] == run.Labels[v1alpha1.StackKeyLabel] && (other.Status.Phase == v1alpha1.RunRunning || earlier(other, run)) {
			message := "Run %s is on the same Pulumi stack and comes first; one at a time."
			if other.Status.Phase == v1alpha1.RunRunning {
				message = "Run %s is at work on the same Pulumi stack; one at a time."
			}
			return &v1alpha1.Waiting{
				Kind:    v1alpha1.WaitLock,
				Message: fmt.Sprintf(message, other.Name),
				Who:     "nobody: it starts when that run has ended",
			}
		}
	}
	if running >= workers {
		return &v1alpha1.Waiting{
			Kind:    v1alpha1.WaitQueue,
			Message: fmt.Sprintf("All %d workers are busy.", workers),
			Who:     "nobody: it starts when one is free",
		}
	}
	return nil
}

func earlier(a, b v1alpha1.Run) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name
}

func (r *Reconciler) start(ctx context.Context, run *look) error {
	job, err := r.Jobs.Build(ctx, run.Run)
	if message, ok := fault.Message(err); ok {
		r.end(run.Run, v1alpha1.RunFailed, message)
		// A missing object may appear; anything else stays wrong.
		run.Status.Retryable = fault.Is(err, fault.NotFound)
		return nil
	}
	if err != nil {
		return err
	}
	// Stored before the runner starts: a crash in between leaves a run that is
	// found lost, never one that is started twice.
	now := metav1.NewTime(r.Clock.Now())
	run.Status.Phase, run.Status.StartedAt, run.Status.Heartbeat = v1alpha1.RunRunning, &now, &now
	run.Status.Message, run.Status.Waiting = "Starting", nil
	run.Status.Holder, run.Status.Epoch = r.Holder, run.Status.Epoch+1
	if err := r.writeStatus(ctx, run); err != nil {
		return err
	}
	r.Log.Info("run starts", "namespace", run.Namespace, "run", run.Name, "operation", run.Spec.Operation, "stack", run.Spec.StackName)
	if err := r.Launcher.Start(ctx, job); err != nil {
		r.Log.Error("run does not start", "namespace", run.Namespace, "run", run.Name, "err", err)
		r.end(run.Run, v1alpha1.RunFailed, "The runner could not be started; the platform team finds the cause in the log.")
		run.Status.Retryable = true
	}
	return nil
}

// track records the progress of a run that is at work.
func (r *Reconciler) track(ctx context.Context, run *v1alpha1.Run, seen runner.Observation) error {
	if run.Status.Holder != r.Holder {
		run.Status.Holder, run.Status.Epoch = r.Holder, run.Status.Epoch+1
		r.Log.Info("run is followed again", "namespace", run.Namespace, "run", run.Name, "epoch", run.Status.Epoch)
	}
	run.Status.Phase, run.Status.Waiting = v1alpha1.RunRunning, nil
	if seen.Doing != "" {
		run.Status.Message = sentence(seen.Doing)
	}
	// Heartbeats are recorded coarsely: each write is one for every watcher.
	if run.Status.Heartbeat == nil || seen.Heartbeat.Sub(run.Status.Heartbeat.Time) > 15*time.Second {
		beat := metav1.NewTime(seen.Heartbeat)
		run.Status.Heartbeat = &beat
	}
	run.Status.Log = tail(seen.Log)
	if run.Spec.Cancel {
		return r.Launcher.Interrupt(ctx, string(run.UID))
	}
	return nil
}

// finish records the result of a run.
func (r *Reconciler) finish(ctx context.Context, run *v1alpha1.Run, seen runner.Observation) error {
	if _, err := r.Launcher.Sweep(ctx, string(run.UID)); err != nil {
		return err
	}
	if err := r.keep(ctx, run, seen); err != nil {
		return err
	}
	result := seen.Result
	r.end(run, result.Phase, result.Message)
	run.Status.PlanDigest, run.Status.EffectDigest, run.Status.Inputs = result.PlanDigest, result.EffectDigest, result.Inputs
	run.Status.Summary, run.Status.Outputs, run.Status.Differences = result.Summary, result.Outputs, result.Differences
	run.Status.Retryable = result.Retryable
	run.Status.Objects = result.Objects[:min(len(result.Objects), maxObjects)]
	return nil
}

// lose ends a run whose runner died without a word. What it left at work is
// ended too; the state is repaired by the next Up of the stack.
func (r *Reconciler) lose(ctx context.Context, run *v1alpha1.Run, seen runner.Observation) error {
	ended, err := r.Launcher.Sweep(ctx, string(run.UID))
	if err != nil {
		return err
	}
	if err := r.keep(ctx, run, seen); err != nil {
		return err
	}
	r.Log.Warn("run lost", "namespace", run.Namespace, "run", run.Name, "ended_processes", ended)
	message := "The runner died before it had a result. Nothing was being changed."
	if run.Spec.Operation != v1alpha1.Preview {
		message = "The runner died before it had a result. Some of the steps may have been applied; the state is read again before anything else is done."
	}
	r.end(run, v1alpha1.RunLost, message)
	run.Status.Retryable = true
	return nil
}

func (r *Reconciler) end(run *v1alpha1.Run, phase v1alpha1.RunPhase, message string) {
	now := metav1.NewTime(r.Clock.Now())
	run.Status.Phase, run.Status.Message, run.Status.FinishedAt, run.Status.Waiting = phase, message, &now, nil
	r.Log.Info("run ended", "namespace", run.Namespace, "run", run.Name, "phase", phase)
}

// wholePlan is a plan as the blob store has it.
type wholePlan struct {
	plan.Plan
	// State is a digest of each resource that the plan was made against, by URN.
	State map[string]string `json:"state,omitempty"`
}

// keep stores the whole plan and log, and what fits of them in the status.
func (r *Reconciler) keep(ctx context.Context, run *v1alpha1.Run, seen runner.Observation) error {
	whole := wholePlan{Plan: plan.Plan{Steps: seen.Steps}}
	if result := seen.Result; result != nil {
		whole.EffectDigest, whole.Outputs, whole.State = result.EffectDigest, result.Outputs, result.State
		if result.Summary != nil {
			whole.Summary = *result.Summary
		}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	base := "runs/" + run.Namespace + "/" + string(run.UID) + "/"
	artefacts := v1alpha1.Artefacts{Plan: base + "plan.json", Log: base + "stream.jsonl"}
	err = errors.Join(r.Blobs.WriteAll(ctx, artefacts.Plan, text, nil), r.Blobs.WriteAll(ctx, artefacts.Log, seen.Stream, nil))
	if err != nil {
		return fmt.Errorf("keep plan and log: %w", err)
	}
	bounded := plan.Bound(whole.Plan, planBytes)
	run.Status.Plan, run.Status.Log, run.Status.Artefacts = &bounded, tail(seen.Log), artefacts
	return nil
}

func tail(lines []v1alpha1.LogLine) *v1alpha1.RunLog {
	if len(lines) == 0 {
		return nil
	}
	omitted := max(0, len(lines)-logLines)
	return &v1alpha1.RunLog{Lines: lines[omitted:], Omitted: int32(omitted)}
}

// sentence makes a heartbeat's word a sentence.
func sentence(doing string) string {
	return strings.ToUpper(doing[:1]) + doing[1:]
}

// sweepOrphans ends and removes what is left of runs whose object is gone.
func (r *Reconciler) sweepOrphans(ctx context.Context) error {
	uids, err := r.Launcher.Runs(ctx)
	if err != nil || len(uids) == 0 {
		return err
	}
	var all v1alpha1.RunList
	if err := r.Live.List(ctx, &all); err != nil {
		return fmt.Errorf("list runs: %w", err)
	}
	known := map[string]bool{}
	for _, run := range all.Items {
		known[string(run.UID)] = true
	}
	for _, uid := range uids {
		if known[uid] {
			continue
		}
		if _, err := r.Launcher.Sweep(ctx, uid); err != nil {
			return err
		}
		if err := r.Launcher.Remove(ctx, uid); err != nil {
			return err
		}
		r.Log.Warn("removed what a deleted run left behind", "uid", uid)
	}
	return nil
}
