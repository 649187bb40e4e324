package web

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/towpath-dev/towpath/components"
	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
)

// The views are pure functions from API objects to what components show. Every
// text that comes from people or the cluster passes safe or lines on its way.

// safe makes a text safe to read on one line.
func safe(text string) string { return plan.Sanitize(text) }

// lines makes a text of several lines safe to read.
func lines(text string) string {
	parts := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, part := range parts {
		// Indentation is no trick.
		parts[i] = strings.ReplaceAll(safe(part), `\t`, "    ")
	}
	return strings.Join(parts, "\n")
}

func moment(at metav1.Time, now time.Time) components.MomentView {
	return components.Moment(at.Time, now)
}

func momentOf(at *metav1.Time, now time.Time) components.MomentView {
	if at == nil {
		return components.MomentView{}
	}
	return components.Moment(at.Time, now)
}

func changeURL(namespace, name string) string  { return "/changes/" + namespace + "/" + name }
func serviceURL(namespace, name string) string { return "/services/" + namespace + "/" + name }
func runURL(namespace, name string) string     { return "/runs/" + namespace + "/" + name }
func goldenPathURL(name string) string         { return "/golden-paths/" + name }

func runLink(text, namespace, name string) components.LinkView {
	if name == "" {
		return components.LinkView{}
	}
	return components.LinkView{Text: text, URL: runURL(namespace, name)}
}

// short is a digest for people: enough of it to tell two apart.
func short(digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return hex[:min(12, len(hex))]
}

// revision names a Program's snapshot for people.
func revision(service, snapshot string) string {
	hex := strings.TrimPrefix(snapshot, service+"-")
	if hex == "" {
		return ""
	}
	return "revision " + safe(hex[:min(7, len(hex))])
}

func counts(s v1alpha1.PlanSummary) components.CountsView {
	return components.CountsView{Create: int(s.Create), Update: int(s.Update), Replace: int(s.Replace), Delete: int(s.Delete), Same: int(s.Same)}
}

// changeTag is the status of a change as a whole.
func changeTag(cr *v1alpha1.ChangeRequest) components.TagView {
	phase := cr.Status.Phase
	if cr.Spec.Withdrawn && !phase.Done() {
		return components.TagView{Tone: components.Busy, Text: "Being withdrawn"}
	}
	switch phase {
	case v1alpha1.ChangePreviewing:
		return components.TagView{Tone: components.Busy, Text: "Previewing"}
	case v1alpha1.ChangeInReview:
		return components.TagView{Tone: components.Wait, Text: "Waiting for review"}
	case v1alpha1.ChangeApplying:
		return components.TagView{Tone: components.Busy, Text: "Applying"}
	case v1alpha1.ChangeApplied:
		return components.TagView{Tone: components.Good, Text: "Applied"}
	case v1alpha1.ChangeRefused, v1alpha1.ChangeRejected, v1alpha1.ChangeFailed:
		return components.TagView{Tone: components.Bad, Text: string(phase)}
	case v1alpha1.ChangeWithdrawn, v1alpha1.ChangeSuperseded:
		return components.TagView{Tone: components.Idle, Text: string(phase)}
	}
	return components.TagView{Tone: components.Busy, Text: "New"}
}

// stackTag is the status of a change in one environment.
func stackTag(cr *v1alpha1.ChangeRequest, sc *v1alpha1.StackChange) components.TagView {
	if cr.Status.Phase.Done() && !settled(sc.Phase) {
		return components.TagView{Tone: components.Idle, Text: "Not applied"}
	}
	switch sc.Phase {
	case v1alpha1.StackPreviewing:
		return components.TagView{Tone: components.Busy, Text: "Previewing"}
	case v1alpha1.StackInReview:
		return components.TagView{Tone: components.Wait, Text: "Waiting for review"}
	case v1alpha1.StackApproved:
		if sc.Waiting != nil && sc.Waiting.Kind == v1alpha1.WaitPrerequisite {
			return components.TagView{Tone: components.Wait, Text: "Approved, waits its turn"}
		}
		return components.TagView{Tone: components.Wait, Text: "Approved"}
	case v1alpha1.StackApplying:
		return components.TagView{Tone: components.Busy, Text: "Applying"}
	case v1alpha1.StackVerifying:
		return components.TagView{Tone: components.Busy, Text: "Checking health"}
	case v1alpha1.StackApplied:
		return components.TagView{Tone: components.Good, Text: "Applied"}
	case v1alpha1.StackRejected, v1alpha1.StackFailed:
		return components.TagView{Tone: components.Bad, Text: string(sc.Phase)}
	case v1alpha1.StackPending:
	}
	return components.TagView{Tone: components.Idle, Text: "Not previewed yet"}
}

// settled reports whether a change has come to its end in an environment.
func settled(phase v1alpha1.StackPhase) bool {
	return phase == v1alpha1.StackApplied || phase == v1alpha1.StackRejected || phase == v1alpha1.StackFailed
}

// placeTag is the status of a service in one environment, from its Stack.
func placeTag(stack *pulumiv1.Stack) components.TagView {
	conditions := stack.Status.Conditions
	if meta.IsStatusConditionTrue(conditions, pulumiv1.ReadyCondition) {
		return components.TagView{Tone: components.Good, Text: "Applied"}
	}
	if stalled := meta.FindStatusCondition(conditions, pulumiv1.StalledCondition); stalled != nil && stalled.Status == metav1.ConditionTrue {
		if stalled.Reason == pulumiv1.ReasonApprovalRejected {
			return components.TagView{Tone: components.Bad, Text: "Rejected"}
		}
		return components.TagView{Tone: components.Bad, Text: "Failed"}
	}
	reconciling := meta.FindStatusCondition(conditions, pulumiv1.ReconcilingCondition)
	if reconciling == nil {
		return components.TagView{Tone: components.Idle, Text: "Not looked at yet"}
	}
	switch reconciling.Reason {
	case pulumiv1.ReasonAwaitingApproval:
		return components.TagView{Tone: components.Wait, Text: "Waiting for review"}
	case pulumiv1.ReasonPrerequisiteNotSatisfied:
		return components.TagView{Tone: components.Wait, Text: "Waits its turn"}
	}
	return components.TagView{Tone: components.Busy, Text: "Applying"}
}

// runTag is the status of a run.
func runTag(phase v1alpha1.RunPhase) components.TagView {
	switch phase {
	case v1alpha1.RunRunning:
		return components.TagView{Tone: components.Busy, Text: "Running"}
	case v1alpha1.RunSucceeded:
		return components.TagView{Tone: components.Good, Text: "Succeeded"}
	case v1alpha1.RunFailed, v1alpha1.RunLost:
		return components.TagView{Tone: components.Bad, Text: string(phase)}
	case v1alpha1.RunDiverged, v1alpha1.RunInterrupted:
		return components.TagView{Tone: components.Warn, Text: string(phase)}
	case v1alpha1.RunPending:
	}
	return components.TagView{Tone: components.Wait, Text: "Waiting"}
}

func waiting(w *v1alpha1.Waiting, now time.Time) components.WaitingView {
	if w == nil {
		return components.WaitingView{}
	}
	return components.WaitingView{Reason: safe(w.Message), Who: safe(w.Who), Since: moment(w.Since, now), NextLook: momentOf(w.NextLook, now)}
}

func differences(title string, list []v1alpha1.Difference) components.DifferencesView {
	view := components.DifferencesView{Title: title}
	for _, d := range list {
		view.List = append(view.List, components.DifferenceView{What: safe(d.What), Detail: safe(d.Detail)})
	}
	return view
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// stopped ends a sentence that has no stop.
func stopped(text string) string {
	if text == "" || strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// capital begins a text with a capital letter. It is not for texts that may begin
// with a name.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

func sentence(text string) string { return stopped(capital(text)) }

// lowerFirst goes on with a sentence. An abbreviation stays as it is.
func lowerFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if second, _ := utf8.DecodeRuneInString(text[size:]); unicode.IsUpper(second) {
		return text
	}
	return string(unicode.ToLower(first)) + text[size:]
}

// names are names from elsewhere, each safe to show.
func names[T ~string](list []T) []string {
	shown := make([]string, 0, len(list))
	for _, name := range list {
		shown = append(shown, safe(string(name)))
	}
	return shown
}

// enumerate joins names with commas and an "and".
func enumerate(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
