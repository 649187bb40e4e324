package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/gate"
	"github.com/towpath-dev/towpath/web/kube"
)

// reader is who looks at a change, and what they may do with it.
type reader struct {
	user kube.User
	// mayReview has the environments whose plans the reader may approve or reject,
	// as far as RBAC goes.
	mayReview                           map[string]bool
	mayComment, mayWithdraw, mayPropose bool
}

// typed is what a reader had typed into a form that was not accepted.
type typed struct {
	environment, comment, problem string
}

// changeView is the page of a change, without its frame.
func changeView(change *kube.Change, environments []v1alpha1.Environment, r reader, kept typed, now time.Time) page.ChangeView {
	cr := &change.ChangeRequest
	title, rest := titleOf(cr)
	view := page.ChangeView{
		ChangesURL: "/changes", Name: cr.Name, Namespace: cr.Namespace,
		Service: components.LinkView{Text: safe(cr.Spec.Service), URL: serviceURL(cr.Namespace, cr.Spec.Service)},
		Title:   title, Description: rest, Author: safe(cr.Spec.Author.Username),
		Proposed: moment(cr.CreationTimestamp, now), Status: changeTag(cr), Message: outcome(cr),
		Ended: cr.Status.Phase.Done(),
	}
	for _, problem := range cr.Status.Problems {
		view.Problems = append(view.Problems, components.DifferenceView{What: safe(problem.Path), Detail: stopped(safe(problem.Message))})
	}
	for _, pinned := range cr.Status.GoldenPaths {
		view.GoldenPaths = append(view.GoldenPaths, goldenPathLink(pinned.Name, pinned.Version))
	}
	if r.mayWithdraw && !cr.Status.Phase.Done() && !cr.Spec.Withdrawn {
		view.WithdrawURL = changeURL(cr.Namespace, cr.Name) + "/withdraw"
	}
	if r.mayPropose {
		view.EditURL = "/compose?namespace=" + cr.Namespace + "&change=" + cr.Name
	}
	rules := rulesOf(environments)
	for i := range cr.Status.Stacks {
		sc := &cr.Status.Stacks[i]
		view.Environments = append(view.Environments, environmentView(change, sc, rules[sc.Environment], r, kept, now))
	}
	view.History = history(change, now)
	return view
}

// outcome is what happens to a change, or how it ended. What went wrong in an
// environment is said there.
func outcome(cr *v1alpha1.ChangeRequest) string {
	ends := map[v1alpha1.ChangePhase]struct {
		phase v1alpha1.StackPhase
		word  string
	}{v1alpha1.ChangeRejected: {v1alpha1.StackRejected, "Rejected"}, v1alpha1.ChangeFailed: {v1alpha1.StackFailed, "Failed"}}
	if end, ok := ends[cr.Status.Phase]; ok {
		var places []string
		for _, sc := range cr.Status.Stacks {
			if sc.Phase == end.phase {
				places = append(places, safe(sc.Environment))
			}
		}
		if len(places) > 0 {
			return end.word + " in " + enumerate(places) + ". Nothing more of it is applied."
		}
	}
	return safe(cr.Status.Message)
}

func goldenPathLink(name, version string) components.LinkView {
	return components.LinkView{Text: safe(name + " " + version), URL: goldenPathURL(name) + "?version=" + version}
}

// titleOf is what a change is called: the first line of its description, or what
// it is for.
func titleOf(cr *v1alpha1.ChangeRequest) (title, rest string) {
	title, rest, _ = strings.Cut(strings.TrimSpace(cr.Spec.Description), "\n")
	if title == "" {
		title = "Change of " + cr.Spec.Service
	}
	return safe(strings.TrimSpace(title)), lines(strings.TrimSpace(rest))
}

func environmentView(change *kube.Change, sc *v1alpha1.StackChange, environment v1alpha1.Environment, r reader, kept typed, now time.Time) page.EnvironmentView {
	name := safe(sc.Environment)
	view := page.EnvironmentView{
		ID: "env-" + name, Name: safe(sc.Environment), Status: stackTag(&change.ChangeRequest, sc),
		Message: stopped(safe(sc.Message)), Waiting: waiting(sc.Waiting, now), Rule: whoDecides(environment),
		Differences: differences("What differs from the plan before", sc.Differences), Folded: foldedPlan(&change.ChangeRequest, sc),
		Preview: runLink("Preview", change.Namespace, sc.Preview), Apply: runLink("Apply", change.Namespace, sc.Apply),
	}
	if len(sc.Editors) > 0 {
		view.Editors = fmt.Sprintf("Also edited by %s, outside of this change.", enumerate(names(sc.Editors)))
	}
	if change.Status.Phase.Done() {
		view.Rule = "" // nobody is asked any more
	}
	if sc.Approval != nil {
		view.Approval = safe(sc.Approval.Reason)
		if sc.Approval.Automatic {
			view.Approval = sentence("Approved by rule: " + lowerFirst(view.Approval))
		}
	}
	if sc.Plan != nil {
		view.PlanShort = short(sc.Plan.Digest)
		if run, ok := change.Runs[sc.Preview]; ok && run.Status.Plan != nil {
			view.Plan = planView("plan-"+name, *run.Status.Plan, sc.Plan.Summary)
		}
	}
	for _, review := range change.Reviews {
		if string(review.Spec.Environment) == sc.Environment {
			view.Reviews = append(view.Reviews, reviewView(review, now))
		}
	}
	view.Form = reviewForm(change, sc, environment, r, kept)
	view.Current = view.Form != nil && view.Form.ApproveURL != ""
	view.Log = currentLog(change, sc)
	if run, ok := change.Runs[sc.Apply]; ok && sc.Phase == v1alpha1.StackApplied {
		view.Outputs = outputs(run.Status.Outputs)
	}
	return view
}

// foldedPlan heads a plan that nobody has to read any more; empty for one that
// somebody has.
func foldedPlan(cr *v1alpha1.ChangeRequest, sc *v1alpha1.StackChange) string {
	switch {
	case sc.Phase == v1alpha1.StackApplied:
		return "What was applied"
	case sc.Phase == v1alpha1.StackFailed || cr.Status.Phase.Done():
		return "What was planned"
	}
	return ""
}

// currentLog is the log of the operation that runs, or of the one that failed.
func currentLog(change *kube.Change, sc *v1alpha1.StackChange) *components.LogView {
	for _, operation := range []struct{ run, title string }{{sc.Apply, "Log of the apply"}, {sc.Preview, "Log of the preview"}} {
		run, ok := change.Runs[operation.run]
		if !ok {
			continue
		}
		switch run.Status.Phase {
		case v1alpha1.RunSucceeded, v1alpha1.RunPending, "":
			continue
		case v1alpha1.RunRunning, v1alpha1.RunFailed, v1alpha1.RunDiverged, v1alpha1.RunInterrupted, v1alpha1.RunLost:
		}
		view := logView("log-"+safe(sc.Environment), operation.title, run)
		return &view
	}
	return nil
}

func reviewView(review *v1alpha1.Review, now time.Time) components.ReviewView {
	view := components.ReviewView{
		By: safe(review.Spec.Reviewer.Username), At: moment(review.CreationTimestamp, now), Comment: lines(review.Spec.Comment),
	}
	switch review.Spec.Decision {
	case v1alpha1.Approve:
		view.Decision = components.Approved
	case v1alpha1.Reject:
		view.Decision = components.Rejected
	case v1alpha1.Comment:
		view.Decision = components.Commented
	}
	if counts := review.Status.Counts; counts != nil && !*counts && review.Spec.Decision != v1alpha1.Comment {
		view.Void = safe(review.Status.Message)
	}
	return view
}

// reviewForm offers what the reader may do with a plan; nil when that is nothing.
func reviewForm(change *kube.Change, sc *v1alpha1.StackChange, environment v1alpha1.Environment, r reader, kept typed) *components.ReviewFormView {
	cr := &change.ChangeRequest
	if sc.Plan == nil || cr.Status.Phase.Done() || cr.Spec.Withdrawn || !undecided(sc.Phase) {
		return nil
	}
	base := changeURL(cr.Namespace, cr.Name)
	view := &components.ReviewFormView{
		ID: "review-" + safe(sc.Environment), Environment: sc.Environment,
		PlanDigest: sc.Plan.Digest, PlanShort: short(sc.Plan.Digest), Consequence: whatFollows(environment),
	}
	if kept.environment == sc.Environment {
		view.Comment, view.Problem = kept.comment, kept.problem
	}
	if r.mayComment {
		view.CommentURL = base + "/comment"
	}
	if r.mayReview[sc.Environment] {
		objection := objectionTo(cr, sc, environment, r.user)
		if objection == "" && !hasApproved(change, sc, r.user.Username) && sc.Phase == v1alpha1.StackInReview {
			view.ApproveURL = base + "/approve"
		}
		view.Refusal = safe(objection)
		view.RejectURL = base + "/reject"
	} else if r.user.Username == cr.Spec.Author.Username && sc.Phase == v1alpha1.StackInReview {
		view.Refusal = "You proposed this change; somebody else has to approve it."
	}
	if view.CommentURL == "" && view.ApproveURL == "" && view.RejectURL == "" {
		return nil
	}
	return view
}

// undecided reports whether a review can still make a difference.
func undecided(phase v1alpha1.StackPhase) bool {
	return phase == v1alpha1.StackInReview || phase == v1alpha1.StackApproved
}

// objectionTo is what the gate would say against an approval by this person,
// empty if nothing. It asks the gate itself, so that page and gate cannot differ.
func objectionTo(cr *v1alpha1.ChangeRequest, sc *v1alpha1.StackChange, environment v1alpha1.Environment, user kube.User) string {
	const proposed = "proposed"
	var review v1alpha1.Review
	review.Name = proposed
	review.Spec = v1alpha1.ReviewSpec{
		Environment: v1alpha1.EnvironmentName(sc.Environment), PlanDigest: sc.Plan.Digest, Decision: v1alpha1.Approve,
		Reviewer: v1alpha1.Person{Username: user.Username, Groups: user.Groups},
	}
	verdict, err := gate.Judge(gate.Facts{
		Environment: environment, Author: cr.Spec.Author.Username, Editors: sc.Editors, Plan: *sc.Plan, Reviews: []v1alpha1.Review{review},
	})
	if err != nil {
		return ""
	}
	if judgement := verdict.Judgements[proposed]; !judgement.Counts {
		return judgement.Message
	}
	return ""
}

func hasApproved(change *kube.Change, sc *v1alpha1.StackChange, username string) bool {
	return slices.ContainsFunc(change.Reviews, func(r *v1alpha1.Review) bool {
		return string(r.Spec.Environment) == sc.Environment && r.Spec.Reviewer.Username == username &&
			r.Spec.Decision == v1alpha1.Approve && r.Spec.PlanDigest == sc.Plan.Digest
	})
}

// whatFollows says what an approval leads to.
func whatFollows(environment v1alpha1.Environment) string {
	if len(environment.Spec.After) == 0 {
		return "Once it has its approvals it is applied at once."
	}
	return fmt.Sprintf("Once it has its approvals it is applied as soon as %s is applied and healthy.", enumerate(names(environment.Spec.After)))
}

// history is what happened to a change, the newest first.
func history(change *kube.Change, now time.Time) []page.EventView {
	type event struct {
		at   time.Time
		view page.EventView
	}
	var events []event
	add := func(at time.Time, who, what, note, url string) {
		if !at.IsZero() {
			events = append(events, event{at, page.EventView{At: components.Moment(at, now), Who: who, What: what, Note: note, URL: url}})
		}
	}
	add(change.CreationTimestamp.Time, safe(change.Spec.Author.Username), "proposed the change", "", "")
	for _, review := range change.Reviews {
		what := map[v1alpha1.Decision]string{v1alpha1.Approve: "approved the plan for ", v1alpha1.Reject: "rejected the plan for ", v1alpha1.Comment: "commented on the plan for "}[review.Spec.Decision]
		add(review.CreationTimestamp.Time, safe(review.Spec.Reviewer.Username), what+safe(string(review.Spec.Environment)), lines(review.Spec.Comment), "")
	}
	for _, sc := range change.Status.Stacks {
		environment := safe(sc.Environment)
		if a := sc.Approval; a != nil && a.Automatic {
			add(a.At.Time, environment, "was approved by rule", safe(a.Reason), "")
		}
		if run, ok := change.Runs[sc.Preview]; ok && run.Status.FinishedAt != nil {
			add(run.Status.FinishedAt.Time, environment, "was previewed", "", runURL(run.Namespace, run.Name))
		}
		if run, ok := change.Runs[sc.Apply]; ok && run.Status.StartedAt != nil {
			add(run.Status.StartedAt.Time, environment, "began to apply", "", runURL(run.Namespace, run.Name))
		}
		if run, ok := lastRun(change, &sc); ok && sc.Phase == v1alpha1.StackFailed && run.Status.FinishedAt != nil {
			add(run.Status.FinishedAt.Time, environment, "failed", "", runURL(run.Namespace, run.Name))
		}
		if sc.AppliedAt != nil {
			add(sc.AppliedAt.Time, environment, "is applied and healthy", "", "")
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return b.at.Compare(a.at) })
	views := make([]page.EventView, 0, len(events))
	for _, e := range events {
		views = append(views, e.view)
	}
	return views
}

// lastRun is the apply of a change in an environment, or its preview if it never
// came to that.
func lastRun(change *kube.Change, sc *v1alpha1.StackChange) (*v1alpha1.Run, bool) {
	if run, ok := change.Runs[sc.Apply]; ok {
		return run, true
	}
	run, ok := change.Runs[sc.Preview]
	return run, ok
}

// changeRow is a change in a list. needs says what the reader is asked for.
func changeRow(cr *v1alpha1.ChangeRequest, needs string, now time.Time) components.ChangeRowView {
	title, _ := titleOf(cr)
	row := components.ChangeRowView{
		Title: title, URL: changeURL(cr.Namespace, cr.Name), Namespace: cr.Namespace, Service: safe(cr.Spec.Service),
		Author: safe(cr.Spec.Author.Username), Status: changeTag(cr), Needs: needs, Since: moment(cr.CreationTimestamp, now),
	}
	var total v1alpha1.PlanSummary
	planned := false
	for i := range cr.Status.Stacks {
		sc := &cr.Status.Stacks[i]
		place := components.ChangePlaceView{Environment: safe(sc.Environment), Status: stackTag(cr, sc)}
		if sc.Plan != nil {
			place.Counts, place.Planned, planned = counts(sc.Plan.Summary), true, true
			total.Create += sc.Plan.Summary.Create
			total.Update += sc.Plan.Summary.Update
			total.Replace = max(total.Replace, sc.Plan.Summary.Replace)
			total.Delete = max(total.Delete, sc.Plan.Summary.Delete)
		}
		row.Places = append(row.Places, place)
	}
	if planned {
		row.Gravest = gravest(total)
	}
	return row
}
