package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/web/kube"
)

// serviceRow is a service in a list, its environments in their order.
func serviceRow(service kube.Service, rank map[string]int, now time.Time) components.ServiceRowView {
	row := components.ServiceRowView{Name: safe(service.Name), URL: serviceURL(service.Namespace, service.Name), Namespace: service.Namespace}
	for _, stack := range inOrder(service.Stacks, rank) {
		row.Places = append(row.Places, components.ServicePlaceView{
			Environment: safe(kube.EnvironmentOf(stack)), Status: placeTag(stack), Revision: revisionOf(service.Name, stack),
		})
	}
	row.Moved = components.Moment(movedAt(service), now)
	return row
}

func inOrder(stacks []*pulumiv1.Stack, rank map[string]int) []*pulumiv1.Stack {
	stacks = slices.Clone(stacks)
	slices.SortStableFunc(stacks, func(a, b *pulumiv1.Stack) int {
		return rank[kube.EnvironmentOf(a)] - rank[kube.EnvironmentOf(b)]
	})
	return stacks
}

// ranks are the places of environments in their order.
func ranks(environments []v1alpha1.Environment) map[string]int {
	rank := map[string]int{}
	for i, environment := range environments {
		rank[environment.Name] = i
	}
	return rank
}

// movedAt is when something last happened to a service.
func movedAt(service kube.Service) time.Time {
	var last time.Time
	for _, stack := range service.Stacks {
		if update := stack.Status.LastUpdate; update != nil && update.LastResyncTime.After(last) {
			last = update.LastResyncTime.Time
		}
		for _, condition := range stack.Status.Conditions {
			if condition.LastTransitionTime.After(last) {
				last = condition.LastTransitionTime.Time
			}
		}
	}
	if last.IsZero() && service.Program != nil {
		last = service.Program.CreationTimestamp.Time
	}
	return last
}

func revisionOf(service string, stack *pulumiv1.Stack) string {
	if stack.Status.LastUpdate == nil {
		return ""
	}
	return revision(service, stack.Status.LastUpdate.LastSuccessfulCommit)
}

// shownApplies bounds the history that a page shows.
const shownApplies = 50

// serviceView is the page of a service, without its frame.
func serviceView(service *kube.ServiceHistory, environments []v1alpha1.Environment, mayPropose bool, now time.Time) page.ServiceView {
	view := page.ServiceView{ServicesURL: "/services", Name: safe(service.Name), Namespace: service.Namespace}
	rank := ranks(environments)
	at := map[string]*pulumiv1.Stack{}
	for _, stack := range inOrder(service.Stacks, rank) {
		at[kube.EnvironmentOf(stack)] = stack
		view.Places = append(view.Places, placeView(service, stack, now))
	}
	view.Order = orderView(environments, func(environment v1alpha1.Environment) components.OrderNodeView {
		node := components.OrderNodeView{Name: safe(environment.Name), Status: components.TagView{Tone: components.Idle, Text: "Not there yet"}}
		if stack := at[environment.Name]; stack != nil {
			node.URL, node.Status = "#place-"+environment.Name, placeTag(stack)
		}
		return node
	})
	for _, cr := range service.Changes {
		if !cr.Status.Phase.Done() {
			view.Open = append(view.Open, changeRow(cr, "", now))
		}
	}
	view.Older = max(0, len(service.Applies)-shownApplies)
	for _, run := range service.Applies[:len(service.Applies)-view.Older] {
		view.History = append(view.History, appliedView(service, run, now))
	}
	if service.Program != nil {
		for _, name := range slices.Sorted(maps.Keys(service.Program.Program.Packages)) {
			_, version, _ := strings.Cut(service.Program.Program.Packages[name], "@")
			view.GoldenPaths = append(view.GoldenPaths, goldenPathLink(name, version))
		}
		if text, err := program.ProjectFile(service.Name, service.Program.Program); err == nil {
			view.YAML = lines(string(text))
		}
	}
	if mayPropose {
		view.ChangeURL = "/compose?namespace=" + service.Namespace + "&service=" + service.Name
	}
	return view
}

func placeView(service *kube.ServiceHistory, stack *pulumiv1.Stack, now time.Time) page.PlaceView {
	environment := kube.EnvironmentOf(stack)
	view := page.PlaceView{
		ID: "place-" + environment, Environment: safe(environment), Status: placeTag(stack),
		Revision: revisionOf(service.Name, stack), Outputs: outputs(stack.Status.Outputs),
	}
	if update := stack.Status.LastUpdate; update != nil {
		view.Run = runLink("Apply", stack.Namespace, update.Name)
		for _, run := range service.Applies {
			if run.Spec.StackName == stack.Name && run.Status.Phase == v1alpha1.RunSucceeded && run.Spec.Snapshot == update.LastSuccessfulCommit {
				view.Since = momentOf(run.Status.FinishedAt, now)
				view.Change = changeLink(service, run.Spec.ChangeRequest)
				break // the newest comes first
			}
		}
	}
	for _, kind := range []string{pulumiv1.StalledCondition, pulumiv1.ReconcilingCondition} {
		if condition := meta.FindStatusCondition(stack.Status.Conditions, kind); condition != nil && condition.Status == metav1.ConditionTrue {
			view.Message = sentence(safe(condition.Message))
		}
	}
	view.Health = healthTag(service, environment)
	return view
}

// healthTag is what is known of the health of what was applied last.
func healthTag(service *kube.ServiceHistory, environment string) components.TagView {
	for _, cr := range service.Changes {
		for _, sc := range cr.Status.Stacks {
			if sc.Environment != environment || sc.Apply == "" {
				continue
			}
			switch sc.Phase {
			case v1alpha1.StackApplied:
				return components.TagView{Tone: components.Good, Text: "Healthy"}
			case v1alpha1.StackVerifying:
				return components.TagView{Tone: components.Busy, Text: "Checking"}
			default:
				return components.TagView{}
			}
		}
	}
	return components.TagView{}
}

func changeLink(service *kube.ServiceHistory, name string) components.LinkView {
	if name == "" {
		return components.LinkView{}
	}
	for _, cr := range service.Changes {
		if cr.Name == name {
			title, _ := titleOf(cr)
			return components.LinkView{Text: title, URL: changeURL(cr.Namespace, name)}
		}
	}
	return components.LinkView{Text: safe(name)}
}

func appliedView(service *kube.ServiceHistory, run *v1alpha1.Run, now time.Time) page.AppliedView {
	view := page.AppliedView{
		At: momentOf(run.Status.FinishedAt, now), Environment: safe(run.Spec.Environment),
		Revision: revision(service.Name, run.Spec.Snapshot), Change: changeLink(service, run.Spec.ChangeRequest), Status: runTag(run.Status.Phase),
	}
	if run.Status.FinishedAt == nil {
		view.At = moment(run.CreationTimestamp, now)
	}
	if run.Status.Summary != nil {
		view.Counts, view.Counted = counts(*run.Status.Summary), true
	}
	for _, cr := range service.Changes {
		if cr.Name != run.Spec.ChangeRequest {
			continue
		}
		view.Author = safe(cr.Spec.Author.Username)
		for _, sc := range cr.Status.Stacks {
			if sc.Environment == run.Spec.Environment && sc.Approval != nil {
				view.ApprovedBy = safe(strings.TrimPrefix(sc.Approval.Reason, "Approved by "))
				if sc.Approval.Automatic {
					view.ApprovedBy = "Rule: " + lowerFirst(view.ApprovedBy)
				}
			}
		}
	}
	return view
}

// runView is the page of a run, without its frame.
func runView(run *v1alpha1.Run, now time.Time) page.RunView {
	status := run.Status
	operation := map[v1alpha1.Operation]string{v1alpha1.Preview: "Preview", v1alpha1.Up: "Apply", v1alpha1.Refresh: "Refresh", v1alpha1.Destroy: "Destroy"}[run.Spec.Operation]
	view := page.RunView{
		Name: run.Name, Namespace: run.Namespace, Title: operation + " of " + safe(run.Spec.Service) + " in " + safe(run.Spec.Environment),
		Status: runTag(status.Phase), Message: stopped(safe(status.Message)),
		Service: components.LinkView{Text: safe(run.Spec.Service), URL: serviceURL(run.Namespace, run.Spec.Service)},
		Started: momentOf(status.StartedAt, now),
		Waiting: waiting(status.Waiting, now), Differences: differences(whatDiffers(status.Phase), status.Differences), Outputs: outputs(status.Outputs),
		Log: logView("log", "Log", run),
	}
	view.Log.URL = ""
	if name := run.Spec.ChangeRequest; name != "" {
		view.Change = components.LinkView{Text: safe(name), URL: changeURL(run.Namespace, name)}
	}
	if status.StartedAt != nil && status.FinishedAt != nil {
		view.Duration = lasted(status.FinishedAt.Sub(status.StartedAt.Time))
	}
	if status.Plan != nil {
		summary := v1alpha1.PlanSummary{}
		if status.Summary != nil {
			summary = *status.Summary
		}
		view.Plan = planView("plan", *status.Plan, summary)
	}
	for _, fact := range []page.FactView{
		{Name: "Service account", Value: run.Spec.ServiceAccountName},
		{Name: "Stack", Value: run.Spec.StackName},
		{Name: "Snapshot", Value: run.Spec.Snapshot},
		{Name: "Plan digest", Value: status.PlanDigest},
		{Name: "Followed by", Value: status.Holder},
	} {
		if fact.Value != "" {
			view.Facts = append(view.Facts, page.FactView{Name: fact.Name, Value: safe(fact.Value)})
		}
	}
	return view
}

// whatDiffers heads the differences that a run has found, or has made.
func whatDiffers(phase v1alpha1.RunPhase) string {
	if phase == v1alpha1.RunDiverged {
		return "What differs from what was approved"
	}
	return "What it changed before it ended"
}

// lasted is how long something took, for people.
func lasted(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
