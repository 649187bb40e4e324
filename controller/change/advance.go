package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/gate"
	"github.com/towpath-dev/towpath/controller/plan"
)

// stackWork is a change in one environment with what one look at it needs.
type stackWork struct {
	*world
	change      *v1alpha1.StackChange
	environment v1alpha1.Environment
	desired     pulumiv1.StackSpec
	inputs      map[string]string
}

// advanceStacks moves the change in every environment, upstream first, so that
// what one look achieves is seen by the environments after it.
func (r *Reconciler) advanceStacks(ctx context.Context, w *world) (bool, error) {
	w.enlist()
	var errs error
	for i := range w.cr.Status.Stacks {
		sc := &w.cr.Status.Stacks[i]
		environment, ok := w.environments[sc.Environment]
		if !ok {
			wait(r, sc, v1alpha1.WaitPrerequisite, fmt.Sprintf("Environment %s no longer exists.", sc.Environment), "the platform team", 0)
			continue
		}
		s := &stackWork{world: w, change: sc, environment: environment, desired: w.desired(environment)}
		s.inputs = w.inputs(s.desired)
		if message := s.fault(); message != "" && s.change.Apply == "" && !settled(s.change.Phase) {
			s.change.Phase, s.change.Message, s.change.Waiting = v1alpha1.StackFailed, message, nil
			continue
		}
		if err := r.advance(ctx, s); err != nil {
			errs = errors.Join(errs, fmt.Errorf("advance %s: %w", sc.Stack, err))
		}
	}
	return false, errs
}

// settled reports whether an environment is done with a change.
func settled(phase v1alpha1.StackPhase) bool {
	return phase == v1alpha1.StackApplied || phase == v1alpha1.StackRejected || phase == v1alpha1.StackFailed
}

// enlist adds the change's environments to its status, in the order of apply.
func (w *world) enlist() {
	if len(w.cr.Status.Stacks) > 0 {
		return
	}
	names := make([]string, 0, len(w.cr.Spec.Environments))
	for _, proposal := range w.cr.Spec.Environments {
		names = append(names, string(proposal.Name))
	}
	for _, name := range order(names, w.environments) {
		_, stack := w.stackFor(name)
		w.cr.Status.Stacks = append(w.cr.Status.Stacks, v1alpha1.StackChange{
			Environment: name, Stack: stack, Phase: v1alpha1.StackPending, Attempt: 1,
		})
	}
}

// advance moves one environment as far as it goes now. The phases follow each
// other in this order, and one look may pass through several.
func (r *Reconciler) advance(ctx context.Context, s *stackWork) error {
	for range 8 {
		before := s.change.Phase
		if err := r.phase(ctx, s); err != nil {
			return err
		}
		if s.change.Phase == before {
			return nil
		}
	}
	return nil
}

func (r *Reconciler) phase(ctx context.Context, s *stackWork) error {
	switch s.change.Phase {
	case v1alpha1.StackPending:
		return r.begin(ctx, s)
	case v1alpha1.StackPreviewing:
		return r.previewing(ctx, s)
	case v1alpha1.StackInReview, v1alpha1.StackApproved:
		return r.reviewing(ctx, s)
	case v1alpha1.StackApplying:
		return r.applying(ctx, s)
	case v1alpha1.StackVerifying:
		return r.verifying(ctx, s)
	case v1alpha1.StackApplied, v1alpha1.StackRejected, v1alpha1.StackFailed:
		s.change.Waiting = nil
	}
	return nil
}

// begin starts a preview.
func (r *Reconciler) begin(ctx context.Context, s *stackWork) error {
	if older := s.predecessor(); older != nil {
		wait(r, s.change, v1alpha1.WaitQueue, fmt.Sprintf("Change %s is still being applied; this one is previewed after it.", older.Name), "nobody: it starts by itself", 0)
		return nil
	}
	run, err := r.startRun(ctx, s, v1alpha1.Preview, s.change.Attempt)
	if err != nil {
		return err
	}
	s.change.Preview, s.change.Plan, s.change.Approval, s.change.Apply = run.Name, nil, nil, ""
	s.change.Phase = v1alpha1.StackPreviewing
	return nil
}

// again voids what there is and asks for a new preview, after a pause if any.
func (r *Reconciler) again(s *stackWork, message string, differences []v1alpha1.Difference) {
	s.change.Attempt++
	s.change.Message, s.change.Differences = message, differences
	s.change.Preview, s.change.Plan, s.change.Editors, s.change.Approval, s.change.Apply = "", nil, nil, nil, ""
	s.change.Phase = v1alpha1.StackPending
}

func (r *Reconciler) previewing(_ context.Context, s *stackWork) error {
	run := s.runs[s.change.Preview]
	if run == nil {
		r.again(s, "The record of the preview is gone; it is made again.", nil)
		return nil
	}
	if changed := plan.CompareInputs(run.Spec.Inputs, s.inputs); len(changed) > 0 && !s.closing() {
		r.again(s, "What the preview was made from has changed; it is made again.", changed)
		return nil
	}
	switch run.Status.Phase {
	case v1alpha1.RunSucceeded:
		s.change.ApplyAttempt = 0
		s.change.Plan = &v1alpha1.PlanReference{
			Digest: run.Status.PlanDigest, EffectDigest: run.Status.EffectDigest,
			Inputs: run.Status.Inputs, Summary: summaryOf(run),
		}
		s.change.Phase = v1alpha1.StackInReview
	case v1alpha1.RunFailed, v1alpha1.RunDiverged:
		if run.Status.Retryable {
			r.retry(s, run, "The preview failed: "+run.Status.Message)
			return nil
		}
		s.change.Phase, s.change.Message = v1alpha1.StackFailed, "The preview failed: "+run.Status.Message
	case v1alpha1.RunInterrupted, v1alpha1.RunLost:
		r.retry(s, run, "The preview was cut short: "+run.Status.Message)
	case v1alpha1.RunPending, v1alpha1.RunRunning, "":
		waitForRun(r, s.change, run, v1alpha1.WaitPreview, "The plan is being made.")
	}
	return nil
}

// retry waits out a pause that grows with the attempts, then previews again. A
// plan that comes out the same keeps its reviews: they name its digest.
func (r *Reconciler) retry(s *stackWork, run *v1alpha1.Run, message string) {
	if !r.paused(s, run, s.change.Attempt, message) {
		r.again(s, message, nil)
	}
}

// applyAgain waits out a pause that grows with the attempts, then applies the
// same plan again. The runner continues what an interrupted apply of this very
// plan has begun, and if anything else differs it touches nothing and says so.
func (r *Reconciler) applyAgain(s *stackWork, run *v1alpha1.Run, message string) {
	if !r.paused(s, run, s.change.ApplyAttempt, message) {
		s.change.ApplyAttempt++
		s.change.Apply, s.change.Phase = "", v1alpha1.StackApproved
	}
}

// paused reports whether the pause after a run that failed is not over yet.
func (r *Reconciler) paused(s *stackWork, run *v1alpha1.Run, failures int32, message string) bool {
	s.change.Message = message
	finished := r.Clock.Now()
	if run.Status.FinishedAt != nil {
		finished = run.Status.FinishedAt.Time
	}
	next := finished.Add(gate.RetryDelay(failures))
	if r.Clock.Now().Before(next) {
		wait(r, s.change, v1alpha1.WaitRetry, message, "nobody: it is tried again by itself", next.Sub(r.Clock.Now()))
		return true
	}
	return false
}

func (r *Reconciler) reviewing(ctx context.Context, s *stackWork) error {
	if changed := r.changedSince(s); len(changed) > 0 {
		r.again(s, "What the plan was made from has changed; approvals of it are void.", changed)
		return nil
	}
	s.change.Editors = s.editors()
	verdict, err := gate.Judge(gate.Facts{
		Environment: s.environment, Author: s.cr.Spec.Author.Username, Editors: s.change.Editors, Plan: *s.change.Plan,
		Reviews: s.reviewsOf(s.change.Environment), Now: r.Clock.Now(),
	})
	if err != nil {
		s.change.Message = fmt.Sprintf("A rule of %s cannot be read; the platform team must mend it: %v", s.change.Environment, err)
		wait(r, s.change, v1alpha1.WaitReview, s.change.Message, "the platform team", 0)
		return nil
	}
	if err := r.recordJudgements(ctx, s.reviewsOf(s.change.Environment), verdict.Judgements); err != nil {
		return err
	}
	switch {
	case verdict.Rejection != "":
		s.change.Phase, s.change.Approval, s.change.Message = v1alpha1.StackRejected, nil, verdict.Rejection
	case verdict.Approval == nil:
		s.change.Phase, s.change.Approval = v1alpha1.StackInReview, nil
		r.awaitReview(s, verdict.Missing)
	default:
		r.approved(s, verdict.Approval)
		return r.approach(ctx, s)
	}
	return nil
}

// changedSince names the inputs that are no longer what the plan was made from.
// What only the runner sees (state, cluster, secrets) it compares itself, in the
// locked sequence before an apply.
func (r *Reconciler) changedSince(s *stackWork) []v1alpha1.Difference {
	known := map[string]string{}
	for name := range s.inputs {
		known[name] = s.change.Plan.Inputs[name]
	}
	return plan.CompareInputs(known, s.inputs)
}

func (r *Reconciler) approved(s *stackWork, approval *v1alpha1.Approval) {
	if old := s.change.Approval; old != nil && old.Reason == approval.Reason {
		approval.At = old.At
	} else if approval.At.IsZero() {
		approval.At = metav1.NewTime(r.Clock.Now())
	}
	s.change.Approval, s.change.Phase = approval, v1alpha1.StackApproved
}

func (r *Reconciler) awaitReview(s *stackWork, missing int) {
	who := "whoever may review " + s.environment.Name
	if groups := s.environment.Spec.Approval.Groups; len(groups) > 0 {
		who = "members of " + strings.Join(groups, " or ")
	}
	who += ", except " + strings.Join(append([]string{s.cr.Spec.Author.Username}, s.change.Editors...), " and ")
	message := fmt.Sprintf("The plan (%s) waits for an approval.", s.change.Plan.Summary.Text)
	if missing > 1 {
		message = fmt.Sprintf("The plan (%s) waits for %d approvals.", s.change.Plan.Summary.Text, missing)
	}
	wait(r, s.change, v1alpha1.WaitReview, message, who, 0)
}

// approach is the way from the signature to the apply: the environment's turn,
// the Stack's prerequisites, then the handing over.
func (r *Reconciler) approach(ctx context.Context, s *stackWork) error {
	if s.closing() {
		wait(r, s.change, v1alpha1.WaitQueue, "The change is being closed; nothing more is applied of it.", "nobody", 0)
		return nil
	}
	waiting, stale := gate.Turn(s.environment, s.upstream(), r.Clock.Now())
	if stale != "" {
		s.refresh(stale)
	}
	if waiting == nil {
		waiting = r.prerequisite(s)
	}
	if waiting != nil {
		keepSince(r, s.change, waiting)
		return nil
	}
	generation, err := r.handOver(ctx, s)
	if err != nil {
		return err
	}
	s.change.Plan.StackGeneration = generation
	s.change.ApplyAttempt = max(s.change.ApplyAttempt, 1)
	run, err := r.startRun(ctx, s, v1alpha1.Up, s.change.ApplyAttempt)
	if err != nil {
		return err
	}
	s.change.Apply = run.Name
	s.change.Phase, s.change.Differences = v1alpha1.StackApplying, nil
	return nil
}

func (s *stackWork) upstream() []gate.Upstream {
	var all []gate.Upstream
	for _, first := range s.environment.Spec.After {
		all = append(all, gate.Upstream{Environment: string(first), Change: s.world.change(string(first))})
	}
	return all
}

// refresh has an upstream environment applied again: its success is too old. Its
// plan will most likely be empty and approve itself.
func (s *stackWork) refresh(environment string) {
	up := s.world.change(environment)
	up.Attempt++
	up.Phase, up.Preview, up.Plan, up.Approval, up.Apply = v1alpha1.StackPending, "", nil, nil, ""
	up.Message = fmt.Sprintf("Applied again, so that it is fresh for %s.", s.change.Environment)
}

// prerequisite asks the Stack's own spec.prerequisites. Those that this change
// itself brings up are judged by the stronger rule of the environments.
func (r *Reconciler) prerequisite(s *stackWork) *v1alpha1.Waiting {
	mine := map[string]bool{}
	for _, up := range s.upstream() {
		if up.Change != nil {
			mine[up.Change.Stack] = true
		}
	}
	for _, ref := range s.desired.Prerequisites {
		if mine[ref.Name] {
			continue
		}
		if waiting := gate.Prerequisite(ref, s.stacks[ref.Name], r.Clock.Now()); waiting != nil {
			return waiting
		}
	}
	return nil
}

func (r *Reconciler) applying(_ context.Context, s *stackWork) error {
	run := s.runs[s.change.Apply]
	if run == nil {
		r.again(s, "The record of the apply is gone; the state is read again.", nil)
		return nil
	}
	switch run.Status.Phase {
	case v1alpha1.RunSucceeded:
		s.change.Phase, s.change.Message = v1alpha1.StackVerifying, run.Status.Message
	case v1alpha1.RunDiverged:
		r.again(s, "Nothing was applied: the world is not what it was when the plan was made. A new plan is being made.", run.Status.Differences)
	case v1alpha1.RunFailed:
		if run.Status.Retryable {
			r.applyAgain(s, run, "The apply failed: "+run.Status.Message)
			return nil
		}
		s.change.Phase, s.change.Message = v1alpha1.StackFailed, "The apply failed: "+run.Status.Message
	case v1alpha1.RunInterrupted, v1alpha1.RunLost:
		r.applyAgain(s, run, "The apply was cut short: "+run.Status.Message)
	case v1alpha1.RunPending, v1alpha1.RunRunning, "":
		waitForRun(r, s.change, run, v1alpha1.WaitApply, "It is being applied.")
	}
	return nil
}

func (r *Reconciler) verifying(ctx context.Context, s *stackWork) error {
	run := s.runs[s.change.Apply]
	if run == nil || run.Status.FinishedAt == nil {
		r.again(s, "The record of the apply is gone; the state is read again.", nil)
		return nil
	}
	health, message, err := r.Health.Check(ctx, run.Status.Objects)
	if err != nil {
		return err
	}
	timeout := 10 * time.Minute
	if t := s.environment.Spec.Health.Timeout; t != nil {
		timeout = t.Duration
	}
	deadline := run.Status.FinishedAt.Add(timeout)
	switch {
	case health == Healthy:
		now := metav1.NewTime(r.Clock.Now())
		s.change.AppliedAt, s.change.Phase, s.change.Waiting = &now, v1alpha1.StackApplied, nil
	case !r.Clock.Now().Before(deadline):
		s.change.Phase, s.change.Message = v1alpha1.StackFailed, fmt.Sprintf("Applied, but not healthy within %s: %s", gate.Span(timeout), message)
	default:
		wait(r, s.change, v1alpha1.WaitHealth, message, "nobody: it is looked at again by itself", 2*time.Second)
	}
	return nil
}

func summaryOf(run *v1alpha1.Run) v1alpha1.PlanSummary {
	if run.Status.Summary == nil {
		return v1alpha1.PlanSummary{}
	}
	return *run.Status.Summary
}

// wait records why an environment waits. Since stays as long as the kind does.
func wait(r *Reconciler, sc *v1alpha1.StackChange, kind v1alpha1.WaitKind, message, who string, next time.Duration) {
	waiting := &v1alpha1.Waiting{Kind: kind, Message: message, Who: who}
	if next > 0 {
		at := metav1.NewTime(r.Clock.Now().Add(next).Truncate(time.Second))
		waiting.NextLook = &at
		// A time that creeps with every look would be a write with every look.
		if old := sc.Waiting; old != nil && old.Kind == kind && old.NextLook != nil && old.NextLook.After(r.Clock.Now()) {
			waiting.NextLook = old.NextLook
		}
	}
	keepSince(r, sc, waiting)
}

func keepSince(r *Reconciler, sc *v1alpha1.StackChange, waiting *v1alpha1.Waiting) {
	waiting.Since = metav1.NewTime(r.Clock.Now())
	if old := sc.Waiting; old != nil && old.Kind == waiting.Kind {
		waiting.Since = old.Since
	}
	sc.Waiting = waiting
}

func waitForRun(r *Reconciler, sc *v1alpha1.StackChange, run *v1alpha1.Run, kind v1alpha1.WaitKind, message string) {
	if waiting := run.Status.Waiting; waiting != nil {
		wait(r, sc, waiting.Kind, waiting.Message, waiting.Who, 0)
		return
	}
	wait(r, sc, kind, message, "nobody: run "+run.Name+" is at work", 0)
}
