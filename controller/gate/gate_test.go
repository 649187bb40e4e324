package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// review is an approval of the current plan by ben, an hour before noon.
func review(name string, edits ...func(*v1alpha1.Review)) v1alpha1.Review {
	r := v1alpha1.Review{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
		Spec: v1alpha1.ReviewSpec{
			PlanDigest: "sha256:current", Decision: v1alpha1.Approve,
			Reviewer: v1alpha1.Person{Username: "ben", Groups: []string{"approver"}},
		},
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

func by(user string, groups ...string) func(*v1alpha1.Review) {
	return func(r *v1alpha1.Review) { r.Spec.Reviewer = v1alpha1.Person{Username: user, Groups: groups} }
}

func at(when time.Time) func(*v1alpha1.Review) {
	return func(r *v1alpha1.Review) { r.CreationTimestamp = metav1.NewTime(when) }
}

func ofPlan(digest string) func(*v1alpha1.Review) {
	return func(r *v1alpha1.Review) { r.Spec.PlanDigest = digest }
}

func saying(decision v1alpha1.Decision, comment string) func(*v1alpha1.Review) {
	return func(r *v1alpha1.Review) { r.Spec.Decision, r.Spec.Comment = decision, comment }
}

// one and two are rules that ask for that many approvals.
var (
	one = v1alpha1.ApprovalRule{Required: 1}
	two = v1alpha1.ApprovalRule{Required: 2}
)

func TestJudge(t *testing.T) {
	counts := Judgement{Counts: true, Message: "Approved."}
	outdated := Judgement{Message: "It is of an outdated plan: the plan has changed since. Look at the new one."}
	authors := Judgement{Message: "The author of a change cannot approve it; somebody else has to."}
	approved := func(when time.Time, people ...string) *v1alpha1.Approval {
		reason := "Approved by " + people[0]
		for _, person := range people[1:] {
			reason += " and " + person
		}
		return &v1alpha1.Approval{Reason: reason, By: people, At: metav1.NewTime(when)}
	}
	hourAgo := noon.Add(-time.Hour)
	for name, test := range map[string]struct {
		rule    v1alpha1.ApprovalRule
		reviews []v1alpha1.Review
		want    Verdict
	}{
		"nobody has said anything": {
			one, nil,
			Verdict{Missing: 1},
		},
		"somebody else approves": {
			one,
			[]v1alpha1.Review{review("r")},
			Verdict{Approval: approved(hourAgo, "ben"), Judgements: map[string]Judgement{"r": counts}},
		},
		"the author approves": {
			one,
			[]v1alpha1.Review{review("r", by("ana", "approver"))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": authors}},
		},
		"the author approves beside somebody": {
			two,
			[]v1alpha1.Review{review("r", by("ana")), review("s")},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": authors, "s": counts}},
		},
		"somebody who edited the Program or the Stack approves": {
			one,
			[]v1alpha1.Review{review("r", by("dan")), review("s", by("dan"), saying(v1alpha1.Reject, "No."), ofPlan("sha256:before"))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{
				"r": {Message: "Whoever last edited the Program or the Stack cannot approve it; somebody else has to."}, "s": outdated,
			}},
		},
		"a review without a reviewer": {
			one,
			[]v1alpha1.Review{review("r", by(""))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": {Message: "It names no reviewer: it was not written through the API server's admission."}}},
		},
		"a rejection without a reviewer": {
			one,
			[]v1alpha1.Review{review("r", by(""), saying(v1alpha1.Reject, "no"))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": {Message: "It names no reviewer: it was not written through the API server's admission."}}},
		},
		"an approval of an outdated plan": {
			one,
			[]v1alpha1.Review{review("r", ofPlan("sha256:before"))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": outdated}},
		},
		"a rejection of an outdated plan": {
			one,
			[]v1alpha1.Review{review("r", ofPlan("sha256:before"), saying(v1alpha1.Reject, "no")), review("s", by("eve"))},
			Verdict{Approval: approved(hourAgo, "eve"), Judgements: map[string]Judgement{"r": outdated, "s": counts}},
		},
		"a review that names no plan": {
			one,
			[]v1alpha1.Review{review("r", ofPlan(""))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": outdated}},
		},
		"a comment": {
			one,
			[]v1alpha1.Review{review("r", saying(v1alpha1.Comment, "Fine."))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": {Message: "A comment decides nothing."}}},
		},
		"a comment after an approval takes nothing back": {
			one,
			[]v1alpha1.Review{review("r"), review("s", saying(v1alpha1.Comment, "Hm."))},
			Verdict{Approval: approved(hourAgo, "ben"), Judgements: map[string]Judgement{"r": counts, "s": {Message: "A comment decides nothing."}}},
		},
		"a rule that asks for nobody still asks for one": {
			v1alpha1.ApprovalRule{},
			nil,
			Verdict{Missing: 1},
		},
		"one of two": {
			two,
			[]v1alpha1.Review{review("r")},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": counts}},
		},
		"the same person twice is one": {
			two,
			[]v1alpha1.Review{review("r"), review("s", at(noon.Add(-time.Minute)))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": counts, "s": counts}},
		},
		"two of two, whatever the order": {
			two,
			[]v1alpha1.Review{review("s", by("eve"), at(noon.Add(-time.Minute))), review("r")},
			Verdict{Approval: approved(noon.Add(-time.Minute), "ben", "eve"), Judgements: map[string]Judgement{"r": counts, "s": counts}},
		},
		"more than are asked for": {
			one,
			[]v1alpha1.Review{review("r"), review("s", by("eve"))},
			Verdict{Approval: approved(hourAgo, "ben", "eve"), Judgements: map[string]Judgement{"r": counts, "s": counts}},
		},
		"somebody of another group": {
			v1alpha1.ApprovalRule{Required: 1, Groups: []string{"sre", "security"}},
			[]v1alpha1.Review{review("r")},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": {Message: "Approvals for prod count from members of sre or security."}}},
		},
		"somebody of one of the groups": {
			v1alpha1.ApprovalRule{Required: 1, Groups: []string{"sre", "security"}},
			[]v1alpha1.Review{review("r", by("ben", "approver", "security"))},
			Verdict{Approval: approved(hourAgo, "ben"), Judgements: map[string]Judgement{"r": counts}},
		},
		"the author is excluded whatever the group": {
			v1alpha1.ApprovalRule{Required: 1, Groups: []string{"sre"}},
			[]v1alpha1.Review{review("r", by("ana", "sre"))},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": authors}},
		},
		"an approval that has expired": {
			v1alpha1.ApprovalRule{Required: 1, ExpiresAfter: &metav1.Duration{Duration: time.Hour}},
			[]v1alpha1.Review{review("r")},
			Verdict{Missing: 1, Judgements: map[string]Judgement{"r": {Message: "The approval has expired: it held for 1 hour. Approve again."}}},
		},
		"an approval that lapses in a second": {
			v1alpha1.ApprovalRule{Required: 1, ExpiresAfter: &metav1.Duration{Duration: time.Hour + time.Second}},
			[]v1alpha1.Review{review("r")},
			Verdict{Approval: approved(hourAgo, "ben"), Judgements: map[string]Judgement{"r": counts}, Expires: noon.Add(time.Second)},
		},
		"an approval given again after it expired": {
			v1alpha1.ApprovalRule{Required: 1, ExpiresAfter: &metav1.Duration{Duration: time.Hour}},
			[]v1alpha1.Review{review("r"), review("s", at(noon.Add(-time.Minute)))},
			Verdict{
				Approval: approved(noon.Add(-time.Minute), "ben"), Expires: noon.Add(59 * time.Minute),
				Judgements: map[string]Judgement{"r": {Message: "The approval has expired: it held for 1 hour. Approve again."}, "s": counts},
			},
		},
		"the first of two to lapse counts": {
			v1alpha1.ApprovalRule{Required: 2, ExpiresAfter: &metav1.Duration{Duration: 2 * time.Hour}},
			[]v1alpha1.Review{review("r"), review("s", by("eve"), at(noon))},
			Verdict{Approval: approved(noon, "ben", "eve"), Expires: noon.Add(time.Hour), Judgements: map[string]Judgement{"r": counts, "s": counts}},
		},
		"a rejection": {
			one,
			[]v1alpha1.Review{review("r", saying(v1alpha1.Reject, "Too big."))},
			Verdict{Rejection: "ben rejected it: Too big.", Judgements: map[string]Judgement{"r": {Counts: true, Message: "Rejected: final for this plan."}}},
		},
		"a rejection after enough approvals": {
			one,
			[]v1alpha1.Review{review("r", by("eve")), review("s", at(noon), saying(v1alpha1.Reject, "Too big."))},
			Verdict{Rejection: "ben rejected it: Too big.", Judgements: map[string]Judgement{"r": counts, "s": {Counts: true, Message: "Rejected: final for this plan."}}},
		},
		"an approval after a rejection does not mend it": {
			one,
			[]v1alpha1.Review{review("r", saying(v1alpha1.Reject, "Too big.")), review("s", at(noon))},
			Verdict{Rejection: "ben rejected it: Too big.", Judgements: map[string]Judgement{"r": {Counts: true, Message: "Rejected: final for this plan."}, "s": counts}},
		},
		"a rejection by somebody of another group": {
			v1alpha1.ApprovalRule{Required: 1, Groups: []string{"sre"}},
			[]v1alpha1.Review{review("r", saying(v1alpha1.Reject, "No."))},
			Verdict{Rejection: "ben rejected it: No.", Judgements: map[string]Judgement{"r": {Counts: true, Message: "Rejected: final for this plan."}}},
		},
		"the author may reject": {
			one,
			[]v1alpha1.Review{review("r", by("ana"), saying(v1alpha1.Reject, "Wrong."))},
			Verdict{Rejection: "ana rejected it: Wrong.", Judgements: map[string]Judgement{"r": {Counts: true, Message: "Rejected: final for this plan."}}},
		},
		"the first of two rejections is told": {
			one,
			[]v1alpha1.Review{review("s", by("eve"), at(noon), saying(v1alpha1.Reject, "Second.")), review("r", saying(v1alpha1.Reject, "First."))},
			Verdict{Rejection: "ben rejected it: First.", Judgements: map[string]Judgement{
				"r": {Counts: true, Message: "Rejected: final for this plan."}, "s": {Counts: true, Message: "Rejected: final for this plan."},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Judge(Facts{
				Environment: v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: "prod"}, Spec: v1alpha1.EnvironmentSpec{Approval: test.rule}},
				Author:      "ana", Editors: []string{"dan"}, Reviews: test.reviews, Now: noon,
				Plan: v1alpha1.PlanReference{Digest: "sha256:current", Summary: v1alpha1.PlanSummary{Create: 1}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJudgeAutomatically(t *testing.T) {
	harmless := []v1alpha1.AutoApproveRule{{Expression: "plan.delete == 0 && plan.replace == 0", Reason: "Nothing is lost"}}
	rejected := review("r", saying(v1alpha1.Reject, "Not now."))
	automatic := func(reason string) Verdict {
		return Verdict{Approval: &v1alpha1.Approval{Automatic: true, Reason: reason}}
	}
	for name, test := range map[string]struct {
		rules   []v1alpha1.AutoApproveRule
		summary v1alpha1.PlanSummary
		reviews []v1alpha1.Review
		want    Verdict
	}{
		"an empty plan needs nobody and no rule": {nil, v1alpha1.PlanSummary{Same: 7}, nil, automatic("Nothing changes")},
		"a rule that matches":                    {harmless, v1alpha1.PlanSummary{Create: 3}, nil, automatic("Nothing is lost")},
		"a rule that does not match":             {harmless, v1alpha1.PlanSummary{Create: 3, Replace: 1}, nil, Verdict{Missing: 1}},
		"a rejection goes before a rule": {
			harmless,
			v1alpha1.PlanSummary{Create: 3},
			[]v1alpha1.Review{rejected},
			Verdict{Rejection: "ben rejected it: Not now.", Judgements: map[string]Judgement{"r": {Counts: true, Message: "Rejected: final for this plan."}}},
		},
		"a rejection goes before emptiness": {
			nil,
			v1alpha1.PlanSummary{},
			[]v1alpha1.Review{rejected},
			Verdict{Rejection: "ben rejected it: Not now.", Judgements: map[string]Judgement{"r": {Counts: true, Message: "Rejected: final for this plan."}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Judge(Facts{
				Environment: v1alpha1.Environment{Spec: v1alpha1.EnvironmentSpec{AutoApprove: test.rules}},
				Author:      "ana", Reviews: test.reviews, Now: noon,
				Plan: v1alpha1.PlanReference{Digest: "sha256:current", Summary: test.summary},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A broken rule must not let a plan pass, and must not hide a rejection.
func TestJudgeUnderABrokenRule(t *testing.T) {
	facts := Facts{
		Environment: v1alpha1.Environment{
			ObjectMeta: metav1.ObjectMeta{Name: "dev"},
			Spec:       v1alpha1.EnvironmentSpec{AutoApprove: []v1alpha1.AutoApproveRule{{Expression: "plan.", Reason: "x"}}},
		},
		Plan: v1alpha1.PlanReference{Digest: "sha256:current", Summary: v1alpha1.PlanSummary{Create: 1}}, Now: noon,
	}
	if got, err := Judge(facts); err == nil || got.Approval != nil {
		t.Errorf("got approval %+v and error %v, want no approval and an error", got.Approval, err)
	}
	facts.Reviews = []v1alpha1.Review{review("r", saying(v1alpha1.Reject, "No."))}
	got, err := Judge(facts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("ben rejected it: No.", got.Rejection); diff != "" {
		t.Error(diff)
	}
}
