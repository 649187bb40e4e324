package operation

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"sync"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/controller/runner"
)

// planned is a plan with everything that it is bound to.
type planned struct {
	plan   plan.Plan
	inputs map[string]string
	digest string
}

// preview makes the plan that people review.
func (s *session) preview(ctx context.Context) runner.Result {
	p, err := s.makePlan(ctx)
	if err != nil {
		return s.failed(err)
	}
	for _, operation := range s.state.pending {
		s.out.Logf(stream.Warning, "An earlier run was interrupted while %s; the next apply repairs this first.", operation)
	}
	for _, step := range p.plan.Steps {
		s.out.Step(step)
	}
	return runner.Result{
		Phase:        v1alpha1.RunSucceeded,
		Message:      "Previewed: " + p.plan.Summary.Text + ".",
		Summary:      &p.plan.Summary,
		PlanDigest:   p.digest,
		EffectDigest: p.plan.EffectDigest,
		Inputs:       p.inputs,
		State:        s.state.resources,
		Outputs:      p.plan.Outputs,
		NeedsRepair:  len(s.state.pending) > 0,
	}
}

// makePlan previews and digests the outcome.
func (s *session) makePlan(ctx context.Context) (*planned, error) {
	s.out.Doing("previewing")
	events, err := s.previewEvents(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkAccess(ctx, events); err != nil {
		return nil, err
	}
	file, err := os.ReadFile(s.engine.PlanFile())
	if err != nil {
		return nil, fmt.Errorf("read the saved plan: %w", err)
	}
	s.learnFrom(file)
	saved, err := plan.SavedPlanDigest(file, s.job.DigestKey, s.engine.Decrypt)
	if err != nil {
		return nil, err
	}
	built, err := plan.Build(events)
	if err != nil {
		return nil, err
	}
	inputs := s.inputs()
	inputs["plan"] = saved
	return &planned{plan: built, inputs: inputs, digest: plan.Digest(inputs, built.EffectDigest)}, nil
}

// previewEvents runs the engine. If the state was not read yet, it is read beside
// it. That the two may see different states does no harm: an apply begins only
// when both the state and the steps are those that were approved.
func (s *session) previewEvents(ctx context.Context) ([]plan.Event, error) {
	var events []plan.Event
	run := func(ctx context.Context) error {
		events = nil
		return s.engine.Preview(ctx, s.engine.PlanFile(), func(event plan.Event) {
			events = append(events, event)
			s.logDiagnostic(event)
		})
	}
	if s.state != nil {
		err := run(ctx)
		return events, err
	}
	var export json.RawMessage
	var readErr, runErr error
	var both sync.WaitGroup
	both.Go(func() { export, readErr = s.engine.State(ctx) })
	both.Go(func() { runErr = run(ctx) })
	both.Wait()
	if ctx.Err() == nil && (readErr != nil || !s.engine.IsEncrypted(export)) {
		// The stack was removed or made anew: nothing is known of it.
		s.forgetEncryption()
		if err := s.selectStack(ctx); err != nil {
			return nil, err
		}
		err := run(ctx)
		return events, err
	}
	if err := cmp.Or(runErr, readErr); err != nil {
		return nil, err
	}
	var err error
	s.state, err = s.readState(export)
	return events, err
}

// inputs are the digests of everything that decides what a plan is, save the
// engine's own.
func (s *session) inputs() map[string]string {
	inputs := maps.Clone(s.job.Inputs)
	if inputs == nil {
		inputs = map[string]string{}
	}
	inputs["secrets"] = s.sealed("secrets", s.job.Secrets)
	inputs["tools"] = s.sealed("tools", s.tools)
	inputs["cluster"] = s.identity
	inputs["state"] = s.state.core
	return inputs
}

// sealed is a keyed digest: who reads it cannot try values.
func (s *session) sealed(what string, values map[string]string) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // a map of strings is always JSON
	}
	mac := hmac.New(sha256.New, s.job.DigestKey)
	mac.Write([]byte(what + "\n"))
	mac.Write(text)
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}
