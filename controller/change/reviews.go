package change

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/gate"
	"github.com/towpath-dev/towpath/controller/program"
)

// reviewsOf returns the reviews of one environment.
func (w *world) reviewsOf(environment string) []v1alpha1.Review {
	var mine []v1alpha1.Review
	for _, review := range w.reviews {
		if string(review.Spec.Environment) == environment {
			mine = append(mine, review)
		}
	}
	return mine
}

// editors are the people other than the author whose edits, made by another door,
// are in the plan.
func (s *stackWork) editors() []string {
	var editors []string
	add := func(editor string) {
		if editor != "" && editor != s.cr.Spec.Author.Username && !slices.Contains(editors, editor) {
			editors = append(editors, editor)
		}
	}
	if stack, _ := s.stackFor(s.environment.Name); stack != nil {
		add(stack.Annotations[v1alpha1.LastEditorAnnotation])
	}
	if p := s.program; p != nil && program.Digest(p.Program) == program.Digest(s.cr.Spec.Program) {
		add(p.Annotations[v1alpha1.LastEditorAnnotation])
	}
	return editors
}

// recordJudgements tells reviewers what became of their reviews.
func (r *Reconciler) recordJudgements(ctx context.Context, reviews []v1alpha1.Review, judgements map[string]gate.Judgement) error {
	for i := range reviews {
		judgement, ok := judgements[reviews[i].Name]
		if !ok {
			continue
		}
		if err := r.record(ctx, &reviews[i], judgement); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) record(ctx context.Context, review *v1alpha1.Review, judgement gate.Judgement) error {
	status := &review.Status
	if status.Counts != nil && *status.Counts == judgement.Counts && status.Message == judgement.Message {
		return nil
	}
	before := review.DeepCopy()
	status.Counts, status.Message = &judgement.Counts, judgement.Message
	if err := r.Client.Status().Patch(ctx, review, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("judge review %q: %w", review.Name, err)
	}
	return nil
}

// judgeLate answers reviews that came when the change had already ended.
func (r *Reconciler) judgeLate(ctx context.Context, w *world) error {
	for i := range w.reviews {
		if w.reviews[i].Status.Counts != nil {
			continue
		}
		late := gate.Judgement{Message: fmt.Sprintf("The change had ended already: %s.", w.cr.Status.Phase)}
		if w.reviews[i].Spec.Decision == v1alpha1.Comment {
			late.Message = "A comment decides nothing."
		}
		if err := r.record(ctx, &w.reviews[i], late); err != nil {
			return err
		}
	}
	return nil
}
