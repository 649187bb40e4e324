package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
)

// begunApply is what must be known of an apply to continue it when its runner was
// killed: the very plan that it ran, for the names that the engine made up are in
// it. It is kept beside the runs' folders until the apply has ended; the plan's
// secrets are encrypted with the stack's passphrase.
type begunApply struct {
	// Digest is the approved plan's.
	Digest  string               `json:"digest"`
	Inputs  map[string]string    `json:"inputs"`
	Summary v1alpha1.PlanSummary `json:"summary"`
	// Steps are the approved plan's.
	Steps []v1alpha1.PlanStep `json:"steps"`

	planFile string
}

// journal is the folder of the stack's begun apply.
func (s *session) journal() string { return s.beside("begun") }

// The files of a journal. The record is written last: without it there is none.
const (
	journalPlan   = "plan.json"
	journalRecord = "apply.json"
)

// remember keeps a plan that is about to be applied, and the steps that were
// approved.
func (s *session) remember(fresh *planned, approved []v1alpha1.PlanStep) (*begunApply, error) {
	dir := s.journal()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep the plan: %w", err)
	}
	file, err := os.ReadFile(s.engine.PlanFile())
	if err != nil {
		return nil, fmt.Errorf("keep the plan: %w", err)
	}
	begun := &begunApply{
		Digest: s.job.Approved.Digest, Inputs: withoutOutcome(fresh.inputs), Summary: fresh.plan.Summary,
		Steps:    approved,
		planFile: filepath.Join(dir, journalPlan),
	}
	record, err := json.Marshal(begun)
	if err != nil {
		return nil, fmt.Errorf("keep the plan: %w", err)
	}
	if err := os.WriteFile(begun.planFile, file, 0o600); err != nil {
		return nil, fmt.Errorf("keep the plan: %w", err)
	}
	temporary := filepath.Join(dir, journalRecord+".new")
	if err := os.WriteFile(temporary, record, 0o600); err != nil {
		return nil, fmt.Errorf("keep the plan: %w", err)
	}
	if err := os.Rename(temporary, filepath.Join(dir, journalRecord)); err != nil {
		return nil, fmt.Errorf("keep the plan: %w", err)
	}
	return begun, nil
}

// begun finds the apply that was begun of the plan that is approved now; nil if
// there is none, or anything differs but what it has itself done.
func (s *session) begun() (*begunApply, error) {
	record, err := os.ReadFile(filepath.Join(s.journal(), journalRecord))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	if err != nil {
		return nil, fmt.Errorf("look for a begun apply: %w", err)
	}
	var begun begunApply
	if err := json.Unmarshal(record, &begun); err != nil {
		return nil, fmt.Errorf("read the record of a begun apply: %w", err)
	}
	if begun.Digest != s.job.Approved.Digest || len(plan.CompareInputs(begun.Inputs, withoutOutcome(s.inputs()))) > 0 {
		s.forget()
		return nil, nil //nolint:nilnil // there is none of this plan
	}
	begun.planFile = filepath.Join(s.journal(), journalPlan)
	return &begun, nil
}

// withoutOutcome are a plan's inputs save those that an interrupted apply of it
// has itself changed.
func withoutOutcome(inputs map[string]string) map[string]string {
	rest := maps.Clone(inputs)
	delete(rest, "state")
	delete(rest, "plan")
	return rest
}

// forget removes the record of a begun apply.
func (s *session) forget() {
	if err := os.RemoveAll(s.journal()); err != nil {
		s.out.Logf(stream.Warning, "The record of a finished apply cannot be removed: %v", err)
	}
}
