package main

import (
	"strings"
	"testing"
	"time"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/golden"
)

var noon = metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func json(text string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(text)} }

// orders is a change on its way: dev is applied, test is signed and waits for
// nothing, prod has a plan with everything that a plan can say.
func orders() shown {
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	review := func(environment string, decision v1alpha1.Decision, who, comment string, counts *bool, message string) v1alpha1.Review {
		return v1alpha1.Review{
			Spec: v1alpha1.ReviewSpec{
				Environment: v1alpha1.EnvironmentName(environment), Decision: decision, Comment: comment, Reviewer: v1alpha1.Person{Username: who},
			},
			Status: v1alpha1.ReviewStatus{Counts: counts, Message: message},
		}
	}
	plan := &v1alpha1.RunPlan{Omitted: 2, Steps: []v1alpha1.PlanStep{
		{Kind: v1alpha1.StepDelete, URN: "urn:old", Type: "kubernetes:core/v1:ConfigMap", Name: "old", Parent: "web", Object: "shop-prod/old"},
		{Kind: v1alpha1.StepReplace, URN: "urn:db", Type: "kubernetes:apps/v1:StatefulSet", Name: "db", Parent: "db", Object: "shop-prod/db", Changes: []v1alpha1.PropertyChange{
			{Path: "spec.serviceName", Old: json(`"a"`), New: json(`"b"`), Replaces: true},
		}},
		{Kind: v1alpha1.StepUpdate, URN: "urn:web", Type: "kubernetes:apps/v1:Deployment", Name: "web", Parent: "web", Object: "shop-prod/web", Omitted: 1, Changes: []v1alpha1.PropertyChange{
			{Path: "spec.replicas", Old: json(`2`), New: json(`3`)},
			{Path: "data.password", Old: json(`"[secret]"`), New: json(`"[secret]"`)},
			{Path: "metadata.labels.team", New: json(`"a"`)},
			{Path: "metadata.annotations.old", Old: json(`"x"`)},
		}},
		{Kind: v1alpha1.StepCreate, URN: "urn:new", Type: "kubernetes:core/v1:Service", Name: "new", Parent: "web", Object: "shop-prod/new", Omitted: 3, Changes: []v1alpha1.PropertyChange{
			{Path: "spec.clusterIP", New: json(`"[unknown]"`)},
		}},
	}}
	return shown{
		change: v1alpha1.ChangeRequest{
			ObjectMeta: metav1.ObjectMeta{Name: "orders-1"},
			Spec:       v1alpha1.ChangeRequestSpec{Service: "orders", Description: "More replicas.", Author: v1alpha1.Person{Username: "ana"}},
			Status: v1alpha1.ChangeRequestStatus{
				Phase: v1alpha1.ChangeInReview, Message: "prod: The plan waits for an approval.",
				Stacks: []v1alpha1.StackChange{
					{
						Environment: "dev", Phase: v1alpha1.StackApplied, Message: "Applied.", Preview: "dev-preview", Apply: "dev-up",
						Plan:     &v1alpha1.PlanReference{Digest: digest("a"), Summary: v1alpha1.PlanSummary{Same: 4, Text: "nothing changes"}},
						Approval: &v1alpha1.Approval{Automatic: true, Reason: "Nothing changes"},
					},
					{
						Environment: "test", Phase: v1alpha1.StackApplying, Preview: "test-preview", Apply: "test-up",
						Plan:     &v1alpha1.PlanReference{Digest: digest("b"), Summary: v1alpha1.PlanSummary{Update: 1, Text: "1 to update"}},
						Approval: &v1alpha1.Approval{Reason: "Approved by ben", By: []string{"ben"}},
						Waiting:  &v1alpha1.Waiting{Kind: v1alpha1.WaitApply, Message: "It is being applied.", Who: "nobody: run test-up is at work", Since: noon},
					},
					{
						Environment: "prod", Phase: v1alpha1.StackInReview, Message: "What the plan was made from has changed; approvals of it are void.", Preview: "prod-preview",
						Plan:        &v1alpha1.PlanReference{Digest: digest("c"), Summary: v1alpha1.PlanSummary{Create: 3, Update: 1, Replace: 1, Delete: 1, Same: 5, Text: "1 to delete, 1 to replace, 1 to update, 3 to create"}},
						Waiting:     &v1alpha1.Waiting{Kind: v1alpha1.WaitReview, Message: "The plan waits for an approval.", Who: "whoever may review prod, except ana", Since: noon},
						Differences: []v1alpha1.Difference{{What: "config", Detail: "the Stack's config changed after the plan was made"}},
					},
				},
			},
		},
		runs: map[string]v1alpha1.Run{
			"dev-preview":  {Status: v1alpha1.RunStatus{Phase: v1alpha1.RunSucceeded, Plan: &v1alpha1.RunPlan{}}},
			"dev-up":       {Status: v1alpha1.RunStatus{Phase: v1alpha1.RunSucceeded, Outputs: map[string]apiextensionsv1.JSON{"url": *json(`"http://orders"`), "password": *json(`"[secret]"`)}}},
			"test-up":      {Status: v1alpha1.RunStatus{Phase: v1alpha1.RunRunning}},
			"prod-preview": {Status: v1alpha1.RunStatus{Phase: v1alpha1.RunSucceeded, Plan: plan}},
		},
		reviews: []v1alpha1.Review{
			review("test", v1alpha1.Approve, "ben", "", new(true), "Approved."),
			review("prod", v1alpha1.Approve, "ana", "Please.", new(false), "The author of a change cannot approve it; somebody else has to."),
			review("prod", v1alpha1.Comment, "ben", "Why three?", new(false), "A comment decides nothing."),
			review("prod", v1alpha1.Approve, "eve", "", nil, ""),
		},
	}
}

func TestShow(t *testing.T) {
	for name, edit := range map[string]func(*shown){
		"in-brief":    func(*shown) {},
		"one-in-full": func(s *shown) { s.only = "prod" },
		"refused": func(s *shown) {
			s.change.Status = v1alpha1.ChangeRequestStatus{
				Phase: v1alpha1.ChangeRefused, Message: "db is no golden path. And 1 more.",
				Problems: []v1alpha1.Problem{{Path: "resources.db.type", Message: "db is no golden path."}, {Path: "outputs.a", Message: "${x} leads to nothing."}},
			}
		},
		"nothing-yet": func(s *shown) {
			s.change.Status, s.change.Spec.Description = v1alpha1.ChangeRequestStatus{}, ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := orders()
			edit(&s)
			golden.Compare(t, "show/"+name+".txt", s.text())
		})
	}
}

// Every text that came from a person or the cluster is made hostile: it must not
// move the cursor, colour, reverse or hide anything, or begin a line of its own.
func TestWhatIsShownIsSafeForTerminals(t *testing.T) {
	const hostile = "\x1b[2J\x1b]0;owned\a\r\nApproved by ben.\u202e\u200b\x00\xff"
	s := orders()
	cr := &s.change
	cr.Spec.Description, cr.Spec.Author.Username, cr.Status.Message = hostile, hostile, hostile
	cr.Status.Problems = []v1alpha1.Problem{{Path: hostile, Message: hostile}}
	for i := range cr.Status.Stacks {
		sc := &cr.Status.Stacks[i]
		sc.Message, sc.Differences = hostile, []v1alpha1.Difference{{What: hostile, Detail: hostile}}
		sc.Waiting = &v1alpha1.Waiting{Kind: v1alpha1.WaitReview, Message: hostile, Who: hostile}
		sc.Approval = &v1alpha1.Approval{Reason: hostile}
		sc.Plan.Summary.Text = hostile
	}
	for i := range s.reviews {
		s.reviews[i].Spec.Comment, s.reviews[i].Spec.Reviewer.Username, s.reviews[i].Status.Message = hostile, hostile, hostile
	}
	run := s.runs["prod-preview"]
	for i := range run.Status.Plan.Steps {
		step := &run.Status.Plan.Steps[i]
		step.Name, step.Type, step.Object, step.Parent, step.URN = hostile, hostile, hostile, hostile, hostile
		step.Changes = []v1alpha1.PropertyChange{{Path: hostile, Old: json(hostile), New: json(hostile)}}
	}
	s.runs["dev-up"] = v1alpha1.Run{Status: v1alpha1.RunStatus{Outputs: map[string]apiextensionsv1.JSON{hostile: *json(hostile)}}}
	for _, only := range []string{"", "prod"} {
		s.only = only
		for line := range strings.SplitSeq(s.text(), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "Approved by ben") {
				t.Errorf("a line that somebody made up: %q", line)
			}
			for _, r := range line {
				if !unicode.IsPrint(r) {
					t.Errorf("%q is in a line: %q", r, line)
				}
			}
		}
	}
}
