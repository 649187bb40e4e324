package change

import (
	"fmt"
	"strings"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// summarise derives the change's phase, progress and message from its
// environments, and ends it when nothing more can happen.
func summarise(cr *v1alpha1.ChangeRequest, w *world) {
	stopped := stopped(cr, w)
	var applied, open int
	var worst *v1alpha1.StackChange
	var current *v1alpha1.StackChange
	for i := range cr.Status.Stacks {
		sc := &cr.Status.Stacks[i]
		switch {
		case sc.Phase == v1alpha1.StackApplied:
			applied++
		case sc.Phase == v1alpha1.StackRejected || sc.Phase == v1alpha1.StackFailed:
			if worst == nil {
				worst = sc
			}
		case !stopped[sc.Environment]:
			open++
			if current == nil {
				current = sc
			}
		}
	}
	cr.Status.Progress = progress(cr)
	switch {
	case open == 0 && worst != nil && worst.Phase == v1alpha1.StackRejected:
		end(cr, v1alpha1.ChangeRejected, worst.Environment+": "+worst.Message)
	case open == 0 && worst != nil:
		end(cr, v1alpha1.ChangeFailed, worst.Environment+": "+worst.Message)
	case open == 0 && len(cr.Status.Stacks) > 0:
		end(cr, v1alpha1.ChangeApplied, fmt.Sprintf("Applied and healthy in %s.", names(cr)))
	case current != nil:
		cr.Status.Phase = phaseOf(current, applied)
		cr.Status.Message = ""
		if current.Waiting != nil {
			cr.Status.Message = current.Environment + ": " + current.Waiting.Message
		}
	default:
		cr.Status.Phase = v1alpha1.ChangePreviewing
	}
}

// stopped are the environments that can never have their turn, because one before
// them was rejected or failed.
func stopped(cr *v1alpha1.ChangeRequest, w *world) map[string]bool {
	found := map[string]bool{}
	for range cr.Status.Stacks { // each pass carries it one environment on
		for _, sc := range cr.Status.Stacks {
			for _, first := range w.environments[sc.Environment].Spec.After {
				up := w.change(string(first))
				if up != nil && (up.Phase == v1alpha1.StackRejected || up.Phase == v1alpha1.StackFailed || found[up.Environment]) {
					found[sc.Environment] = true
				}
			}
		}
	}
	return found
}

func phaseOf(current *v1alpha1.StackChange, applied int) v1alpha1.ChangePhase {
	switch current.Phase {
	case v1alpha1.StackPending, v1alpha1.StackPreviewing:
		if applied == 0 {
			return v1alpha1.ChangePreviewing
		}
	case v1alpha1.StackInReview:
		return v1alpha1.ChangeInReview
	case v1alpha1.StackApproved, v1alpha1.StackApplying, v1alpha1.StackVerifying, v1alpha1.StackApplied, v1alpha1.StackRejected, v1alpha1.StackFailed:
	}
	return v1alpha1.ChangeApplying
}

func progress(cr *v1alpha1.ChangeRequest) string {
	words := make([]string, 0, len(cr.Status.Stacks))
	for _, sc := range cr.Status.Stacks {
		words = append(words, sc.Environment+" "+string(sc.Phase))
	}
	return strings.Join(words, ", ")
}

func names(cr *v1alpha1.ChangeRequest) string {
	words := make([]string, 0, len(cr.Status.Stacks))
	for _, sc := range cr.Status.Stacks {
		words = append(words, sc.Environment)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
