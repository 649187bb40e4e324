package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/towpath-dev/towpath/components"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// planView shows a plan, without instances of golden paths that have no effect of
// their own: what they are made of stands there itself.
func planView(id string, p v1alpha1.RunPlan, summary v1alpha1.PlanSummary) *components.PlanView {
	view := &components.PlanView{ID: id, Counts: counts(summary), Omitted: int(p.Omitted)}
	for _, step := range p.Steps {
		if !step.Component {
			view.Steps = append(view.Steps, stepView(step))
		}
	}
	view.Consequence = consequence(view.Steps, summary)
	return view
}

var operations = map[v1alpha1.StepKind]components.Op{
	v1alpha1.StepCreate: components.Create, v1alpha1.StepUpdate: components.Update,
	v1alpha1.StepReplace: components.Replace, v1alpha1.StepDelete: components.Delete,
}

func stepView(step v1alpha1.PlanStep) components.StepView {
	view := components.StepView{
		Op: operations[step.Kind], Name: safe(step.Name), Kind: safe(kindOf(step.Type)),
		Instance: safe(step.Parent), Omitted: int(step.Omitted),
	}
	if namespace, name, found := strings.Cut(step.Object, "/"); found {
		view.Where, view.Name = safe(namespace), safe(name)
	} else if step.Object != "" {
		view.Name = safe(step.Object)
	}
	var forces []string
	for _, change := range step.Changes {
		view.Changes = append(view.Changes, components.ChangeView{
			Path: safe(change.Path), Old: valueView(change.Old), New: valueView(change.New), Forces: change.Replaces,
		})
		if change.Replaces {
			forces = append(forces, safe(change.Path))
		}
	}
	if len(forces) > 0 {
		view.Reason = "forced by " + enumerate(forces)
	}
	return view
}

// kindOf is the last part of a type token: kubernetes:apps/v1:Deployment.
func kindOf(token string) string { return token[strings.LastIndex(token, ":")+1:] }

// The marks that stand in a plan for values that it does not hold.
const (
	secretMark  = `"[secret]"`
	unknownMark = `"[unknown]"`
)

func valueView(value *apiextensionsv1.JSON) components.ValueView {
	switch {
	case value == nil:
		return components.ValueView{}
	case string(value.Raw) == secretMark:
		return components.ValueView{State: components.Secret}
	case string(value.Raw) == unknownMark:
		return components.ValueView{State: components.Unknown}
	}
	return components.ValueView{State: components.Known, Text: valueText(value.Raw)}
}

// valueText is a JSON value as people write it: text without quotes, the rest as
// JSON, in which < and & stand for themselves.
func valueText(raw []byte) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // as it was written
	if decoder.Decode(&value) != nil {
		return safe(string(raw))
	}
	if text, ok := value.(string); ok {
		return lines(text)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return safe(string(raw))
	}
	return safe(strings.TrimSuffix(text.String(), "\n"))
}

// keepers are kinds whose end is the end of what people have stored in them.
var keepers = []string{"PersistentVolumeClaim", "PersistentVolume", "StatefulSet", "Namespace", "Secret"}

// consequence says what a reader must know before anything else.
func consequence(steps []components.StepView, summary v1alpha1.PlanSummary) string {
	if summary.Empty() {
		return "Nothing changes."
	}
	var sentences []string
	if summary.Delete > 0 {
		sentences = append(sentences, "Deletes "+named(steps, components.Delete, int(summary.Delete))+".")
	}
	if summary.Replace > 0 {
		sentences = append(sentences, "Replaces "+named(steps, components.Replace, int(summary.Replace))+": deleted and made anew.")
	}
	if lost := lostData(steps); len(lost) > 0 {
		sentences = append(sentences, "What is stored in "+enumerate(lost)+" may be lost unless it is backed up.")
	}
	if summary.Update > 0 {
		sentences = append(sentences, "Updates "+named(steps, components.Update, int(summary.Update))+" in place.")
	}
	switch {
	case summary.Create > 0 && len(sentences) == 0:
		sentences = append(sentences, fmt.Sprintf("Only creates: %s. Nothing that runs is touched.", plural(int(summary.Create), "new resource", "new resources")))
	case summary.Create > 0:
		sentences = append(sentences, "Creates "+plural(int(summary.Create), "new resource", "new resources")+".")
	}
	return strings.Join(sentences, " ")
}

// shownNames is how many resources a sentence names.
const shownNames = 3

func named(steps []components.StepView, op components.Op, total int) string {
	var names []string
	for _, step := range steps {
		if step.Op == op && len(names) < shownNames {
			names = append(names, step.Kind+" "+step.Name)
		}
	}
	switch rest := total - len(names); {
	case len(names) == 0:
		return plural(total, "resource", "resources")
	case rest > 0:
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", rest)
	}
	return enumerate(names)
}

func lostData(steps []components.StepView) []string {
	var names []string
	for _, step := range steps {
		if (step.Op == components.Delete || step.Op == components.Replace) && slices.Contains(keepers, step.Kind) && len(names) < shownNames {
			names = append(names, step.Kind+" "+step.Name)
		}
	}
	return names
}

// gravest is the worst of a plan in a few words, for lists.
func gravest(s v1alpha1.PlanSummary) string {
	switch {
	case s.Delete > 0:
		return "Deletes " + plural(int(s.Delete), "resource", "resources")
	case s.Replace > 0:
		return "Replaces " + plural(int(s.Replace), "resource", "resources")
	case s.Update > 0:
		return "Updates in place"
	case s.Create > 0:
		return "Only creates"
	}
	return "Changes nothing"
}

func outputs(values map[string]apiextensionsv1.JSON) []components.OutputView {
	views := make([]components.OutputView, 0, len(values))
	for name, value := range values {
		view := components.OutputView{Name: safe(name)}
		if string(value.Raw) == secretMark {
			view.Secret = true
		} else {
			view.Value = valueText(value.Raw)
		}
		views = append(views, view)
	}
	slices.SortFunc(views, func(a, b components.OutputView) int { return strings.Compare(a.Name, b.Name) })
	return views
}

func logView(id, title string, run *v1alpha1.Run) components.LogView {
	view := components.LogView{ID: id, Title: title, Running: !run.Status.Phase.Done(), URL: runURL(run.Namespace, run.Name)}
	if run.Status.Log == nil {
		return view
	}
	view.Omitted = int(run.Status.Log.Omitted)
	for _, line := range run.Status.Log.Lines {
		at := line.Time.UTC()
		view.Lines = append(view.Lines, components.LogLineView{
			Machine: at.Format(time.RFC3339), Clock: at.Format(time.TimeOnly), Severity: severity(line.Severity), Text: lines(line.Text),
		})
	}
	return view
}

func severity(s string) string {
	if s == "warning" || s == "error" {
		return s
	}
	return "info"
}
