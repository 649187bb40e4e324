// Package gate decides: whether a plan is approved, whether a Stack's turn has
// come, and in which words it waits. It is pure: facts in, verdict out; no I/O,
// no clock, no cluster.
package gate

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Facts are what a verdict on one plan stands on.
type Facts struct {
	Environment v1alpha1.Environment
	Author      string
	// Editors have changed the Program or Stack that the plan is made from, by
	// another door than the change; they cannot approve it either.
	Editors []string
	Plan    v1alpha1.PlanReference
	Reviews []v1alpha1.Review
	Now     time.Time
}

// Verdict is the gate's answer for one plan.
type Verdict struct {
	Approval *v1alpha1.Approval
	// Rejection is set when somebody said no to this plan: it is final for it.
	Rejection string
	// Missing is how many approvals are still wanted.
	Missing int
	// Judgements say of each review, by name, whether it counts and why.
	Judgements map[string]Judgement
	// Expires is when the oldest approval in use lapses, zero if never.
	Expires time.Time
}

// Judgement says whether a review counts and why.
type Judgement struct {
	Counts  bool
	Message string
}

// Judge weighs a plan against its environment's rules: an empty plan approves
// itself, then the first auto-approve rule that matches, then signatures.
func Judge(f Facts) (Verdict, error) {
	v := Verdict{Judgements: map[string]Judgement{}}
	approvals := weigh(f, &v)
	if v.Rejection != "" {
		return v, nil
	}
	reason, automatic, err := AutoApprove(f.Environment.Spec.AutoApprove, f.Plan.Summary)
	if err != nil {
		return v, fmt.Errorf("judge the plan for environment %q: %w", f.Environment.Name, err)
	}
	if automatic {
		v.Approval = &v1alpha1.Approval{Automatic: true, Reason: reason}
		return v, nil
	}
	required := max(int(f.Environment.Spec.Approval.Required), 1)
	if len(approvals) < required {
		v.Missing = required - len(approvals)
		return v, nil
	}
	v.Approval = approval(approvals, f.Environment.Spec.Approval, &v)
	return v, nil
}

// weigh judges each review and returns the approvals that count, the latest of
// each person.
func weigh(f Facts, v *Verdict) map[string]v1alpha1.Review {
	reviews := append([]v1alpha1.Review{}, f.Reviews...)
	sort.Slice(reviews, func(i, j int) bool {
		if !reviews[i].CreationTimestamp.Equal(&reviews[j].CreationTimestamp) {
			return reviews[i].CreationTimestamp.Before(&reviews[j].CreationTimestamp)
		}
		return reviews[i].Name < reviews[j].Name
	})
	approvals := map[string]v1alpha1.Review{}
	for _, review := range reviews {
		counts, message := judge(f, review)
		v.Judgements[review.Name] = Judgement{Counts: counts, Message: message}
		if !counts {
			continue
		}
		switch review.Spec.Decision {
		case v1alpha1.Approve:
			approvals[review.Spec.Reviewer.Username] = review
		case v1alpha1.Reject:
			if v.Rejection == "" {
				v.Rejection = fmt.Sprintf("%s rejected it: %s", review.Spec.Reviewer.Username, review.Spec.Comment)
			}
		case v1alpha1.Comment:
		}
	}
	return approvals
}

func judge(f Facts, review v1alpha1.Review) (counts bool, message string) {
	rule, reviewer := f.Environment.Spec.Approval, review.Spec.Reviewer
	switch {
	case review.Spec.Decision == v1alpha1.Comment:
		return false, "A comment decides nothing."
	case reviewer.Username == "":
		return false, "It names no reviewer: it was not written through the API server's admission."
	case review.Spec.PlanDigest != f.Plan.Digest:
		return false, "It is of an outdated plan: the plan has changed since. Look at the new one."
	case review.Spec.Decision == v1alpha1.Reject:
		return true, "Rejected: final for this plan."
	case reviewer.Username == f.Author:
		return false, "The author of a change cannot approve it; somebody else has to."
	case slices.Contains(f.Editors, reviewer.Username):
		return false, "Whoever last edited the Program or the Stack cannot approve it; somebody else has to."
	case len(rule.Groups) > 0 && !shareOne(rule.Groups, reviewer.Groups):
		return false, fmt.Sprintf("Approvals for %s count from members of %s.", f.Environment.Name, strings.Join(rule.Groups, " or "))
	case expired(rule, review, f.Now):
		return false, fmt.Sprintf("The approval has expired: it held for %s. Approve again.", Span(rule.ExpiresAfter.Duration))
	}
	return true, "Approved."
}

func expired(rule v1alpha1.ApprovalRule, review v1alpha1.Review, now time.Time) bool {
	return rule.ExpiresAfter != nil && !now.Before(review.CreationTimestamp.Add(rule.ExpiresAfter.Duration))
}

func approval(approvals map[string]v1alpha1.Review, rule v1alpha1.ApprovalRule, v *Verdict) *v1alpha1.Approval {
	a := &v1alpha1.Approval{}
	for _, review := range approvals {
		a.By = append(a.By, review.Spec.Reviewer.Username)
		if a.At.Before(&review.CreationTimestamp) {
			a.At = review.CreationTimestamp
		}
		if rule.ExpiresAfter != nil {
			lapse := review.CreationTimestamp.Add(rule.ExpiresAfter.Duration)
			if v.Expires.IsZero() || lapse.Before(v.Expires) {
				v.Expires = lapse
			}
		}
	}
	sort.Strings(a.By)
	a.Reason = "Approved by " + strings.Join(a.By, " and ")
	return a
}

func shareOne(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}
