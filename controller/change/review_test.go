package change

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// atReview is a scene with a plan that waits for a review in environment test.
func atReview(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	s.applied("first", "dev")
	return s
}

func TestReviews(t *testing.T) {
	yes, no := new(true), new(false)
	for name, test := range map[string]struct {
		user   string
		edit   func(*v1alpha1.Review)
		status v1alpha1.ReviewStatus
		phase  v1alpha1.StackPhase
	}{
		"somebody else's approval counts": {
			"ben",
			func(*v1alpha1.Review) {},
			v1alpha1.ReviewStatus{Counts: yes, Message: "Approved."},
			v1alpha1.StackApplying,
		},
		"the author's own does not": {
			"ana",
			func(*v1alpha1.Review) {},
			v1alpha1.ReviewStatus{Counts: no, Message: "The author of a change cannot approve it; somebody else has to."},
			v1alpha1.StackInReview,
		},
		"the author's own in somebody else's name does not": {
			"ana",
			func(r *v1alpha1.Review) {
				r.Spec.Reviewer = v1alpha1.Person{Username: "ben", Groups: []string{"approver"}}
			},
			v1alpha1.ReviewStatus{Counts: no, Message: "The author of a change cannot approve it; somebody else has to."},
			v1alpha1.StackInReview,
		},
		"an approval of another plan does not": {
			"ben",
			func(r *v1alpha1.Review) { r.Spec.PlanDigest = program.DigestOf("another") },
			v1alpha1.ReviewStatus{Counts: no, Message: "It is of an outdated plan: the plan has changed since. Look at the new one."},
			v1alpha1.StackInReview,
		},
		"a comment decides nothing": {
			"ben",
			func(r *v1alpha1.Review) { r.Spec.Decision = v1alpha1.Comment },
			v1alpha1.ReviewStatus{Counts: no, Message: "A comment decides nothing."},
			v1alpha1.StackInReview,
		},
		"a rejection ends it": {
			"ben",
			func(r *v1alpha1.Review) { r.Spec.Decision, r.Spec.Comment = v1alpha1.Reject, "Too big." },
			v1alpha1.ReviewStatus{Counts: yes, Message: "Rejected: final for this plan."},
			v1alpha1.StackRejected,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := atReview(t)
			review := s.signed("first", "test", v1alpha1.Approve)
			test.edit(review)
			cr, status := s.reviews(test.user, review)
			if diff := cmp.Diff(test.status, status); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.phase, in(t, cr, "test").Phase); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARejectionStopsWhatComesAfter(t *testing.T) {
	s := newScene(t)
	s.propose("first")
	s.previewed("first")
	s.applied("first", "dev")
	s.approved("first", "prod")
	cr, _ := s.reviews("ben", s.signed("first", "test", v1alpha1.Reject))
	want := []string{"Rejected", "dev Applied, test Rejected, prod Approved", "test: ben rejected it: Seen."}
	if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Progress, cr.Status.Message}); diff != "" {
		t.Error(diff)
	}
	for _, sc := range cr.Status.Stacks {
		if sc.Waiting != nil {
			t.Errorf("%s still waits: %s", sc.Environment, sc.Waiting.Message)
		}
	}
	// A review that comes too late is answered, too.
	late := s.signed("first", "prod", v1alpha1.Approve)
	_, status := s.reviews("eve", late)
	if diff := cmp.Diff(v1alpha1.ReviewStatus{Counts: new(false), Message: "The change had ended already: Rejected."}, status); diff != "" {
		t.Error(diff)
	}
}

func TestTheRejectionOfADownstreamPlanDoesNotStopUpstream(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	cr, _ := s.reviews("ben", s.signed("first", "test", v1alpha1.Reject))
	if diff := cmp.Diff(v1alpha1.ChangeApplying, cr.Status.Phase); diff != "" {
		t.Error(diff)
	}
	cr = s.applied("first", "dev")
	if diff := cmp.Diff("Rejected: dev Applied, test Rejected", string(cr.Status.Phase)+": "+cr.Status.Progress); diff != "" {
		t.Error(diff)
	}
}

// An environment of its own that asks for more than one signature, from members of
// a group, for an hour.
func TestAStrictEnvironment(t *testing.T) {
	s := newScene(t)
	strict := environment("strict", func(e *v1alpha1.EnvironmentSpec) {
		e.Approval = v1alpha1.ApprovalRule{Required: 2, Groups: []string{"approver"}, ExpiresAfter: &metav1.Duration{Duration: time.Hour}}
		e.After = []v1alpha1.EnvironmentName{"dev"}
	})
	s.has(&strict)
	s.propose("first", to("dev", "strict"))
	cr := s.previewed("first")
	want := &v1alpha1.Waiting{Kind: v1alpha1.WaitReview, Message: "The plan (1 to create) waits for 2 approvals.", Who: "members of approver, except ana"}
	if diff := cmp.Diff(want, in(t, cr, "strict").Waiting, cmpopts.IgnoreFields(v1alpha1.Waiting{}, "Since")); diff != "" {
		t.Error(diff)
	}
	s.approved("first", "strict")
	cr = s.approved("first", "strict")
	if diff := cmp.Diff("The plan (1 to create) waits for an approval.", in(t, cr, "strict").Waiting.Message); diff != "" {
		t.Errorf("the same person twice:\n%s", diff)
	}
	cr, _ = s.reviews("eve", s.signed("first", "strict", v1alpha1.Approve))
	if diff := cmp.Diff([]string{"ben", "eve"}, in(t, cr, "strict").Approval.By); diff != "" {
		t.Error(diff)
	}
	// Nobody used the approvals in time.
	s.clock.now = s.clock.now.Add(2 * time.Hour)
	sc := in(t, s.look("first"), "strict")
	if sc.Phase != v1alpha1.StackInReview || sc.Approval != nil {
		t.Errorf("expired approvals still hold: %s, %+v", sc.Phase, sc.Approval)
	}
}

func TestABrokenRuleIsForThePlatformTeamToMend(t *testing.T) {
	s := newScene(t)
	broken := environment("broken", func(e *v1alpha1.EnvironmentSpec) {
		e.AutoApprove = []v1alpha1.AutoApproveRule{{Expression: "plan.", Reason: "x"}}
	})
	s.has(&broken)
	s.propose("first", to("broken"))
	sc := in(t, s.previewed("first"), "broken")
	if sc.Phase != v1alpha1.StackInReview || sc.Waiting == nil || sc.Waiting.Who != "the platform team" {
		t.Errorf("got %s, %+v", sc.Phase, sc.Waiting)
	}
}

// Each edit changes an input of the plan between the approval and the apply. The
// approval is void, and the input is named.
func TestAnInputThatChangesVoidsTheApproval(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*pulumiv1.StackSpec)
		what string
	}{
		"a value": {
			func(spec *pulumiv1.StackSpec) {
				spec.Config = map[string]apiextensionsv1.JSON{"size": {Raw: []byte("9")}}
			},
			"config",
		},
		"where a secret comes from": {
			func(spec *pulumiv1.StackSpec) {
				spec.SecretsRef = map[string]pulumiv1.ResourceRef{"size": {Type: "Secret", Secret: &pulumiv1.SecretSelector{Name: "a", Key: "b"}}}
			},
			"config",
		},
		"a credential of the backend": {
			func(spec *pulumiv1.StackSpec) {
				spec.EnvRefs = map[string]pulumiv1.ResourceRef{"AWS_REGION": {Type: "Literal", Literal: &pulumiv1.LiteralRef{Value: "b"}}}
			},
			"stack",
		},
		"a prerequisite": {
			func(spec *pulumiv1.StackSpec) {
				spec.Prerequisites = append(spec.Prerequisites, pulumiv1.PrerequisiteRef{Name: "network"})
			},
			"stack",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			// The Stack is there before, and its prerequisite is not, so that the
			// approved plan waits.
			s.propose("first", to("test", "dev"))
			s.previewed("first")
			s.applied("first", "dev")
			s.approved("first", "test")
			s.applied("first", "test")
			s.propose("second", to("test", "dev"))
			s.previewed("second")
			cr := s.approved("second", "test")
			if diff := cmp.Diff(v1alpha1.StackApproved, in(t, cr, "test").Phase); diff != "" {
				t.Fatal(diff)
			}
			var stack pulumiv1.Stack
			s.get("orders-test", &stack)
			test.edit(&stack.Spec)
			if err := cluster.As(t, "dan", "developer").Update(t.Context(), &stack); err != nil {
				t.Fatal(err)
			}

			sc := in(t, s.look("second"), "test")
			if sc.Approval != nil || sc.Phase != v1alpha1.StackPreviewing || sc.Attempt != 2 {
				t.Errorf("phase %s, attempt %d, approval %+v", sc.Phase, sc.Attempt, sc.Approval)
			}
			if diff := cmp.Diff("What the plan was made from has changed; approvals of it are void.", sc.Message); diff != "" {
				t.Error(diff)
			}
			if len(sc.Differences) != 1 || sc.Differences[0].What != test.what {
				t.Errorf("differences %+v, want one of %s", sc.Differences, test.what)
			}
			// The new plan is of the new input: the old signature does not count.
			cr = s.previewed("second")
			if diff := cmp.Diff(v1alpha1.StackInReview, in(t, cr, "test").Phase); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Who edited the Stack by another door is an author of the plan, too.
func TestAnEditorOfTheStackCannotApprove(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	s.applied("first", "dev")
	s.approved("first", "test")
	s.applied("first", "test")
	var stack pulumiv1.Stack
	s.get("orders-test", &stack)
	stack.Spec.Config = map[string]apiextensionsv1.JSON{"size": {Raw: []byte("9")}}
	if err := cluster.As(t, "ben", "developer").Update(t.Context(), &stack); err != nil {
		t.Fatal(err)
	}
	s.propose("second", to("dev", "test"))
	before := in(t, s.previewed("second"), "test")
	if diff := cmp.Diff([]string{"ben"}, before.Editors); diff != "" {
		t.Errorf("the editors that pages know of:\n%s", diff)
	}
	if diff := cmp.Diff("whoever may review test, except ana and ben", before.Waiting.Who); diff != "" {
		t.Error(diff)
	}
	cr, status := s.reviews("ben", s.signed("second", "test", v1alpha1.Approve))
	want := v1alpha1.ReviewStatus{Counts: new(false), Message: "Whoever last edited the Program or the Stack cannot approve it; somebody else has to."}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(v1alpha1.StackInReview, in(t, cr, "test").Phase); diff != "" {
		t.Error(diff)
	}
	cr, _ = s.reviews("eve", s.signed("second", "test", v1alpha1.Approve))
	if diff := cmp.Diff(v1alpha1.StackApproved, in(t, cr, "test").Phase); diff != "" {
		t.Error(diff)
	}
}

func TestALabelOnTheStackChangesNothing(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	s.applied("first", "dev")
	s.approved("first", "test")
	s.applied("first", "test")
	s.propose("second", to("dev", "test"))
	s.previewed("second")
	s.approved("second", "test")
	var stack pulumiv1.Stack
	s.get("orders-test", &stack)
	stack.Labels["team"] = "a"
	if err := cluster.As(t, "dan", "developer").Update(t.Context(), &stack); err != nil {
		t.Fatal(err)
	}
	if sc := in(t, s.look("second"), "test"); sc.Phase != v1alpha1.StackApproved || sc.Attempt != 1 {
		t.Errorf("phase %s, attempt %d", sc.Phase, sc.Attempt)
	}
}

func TestAnInputThatChangesDuringThePreview(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev"))
	s.previewed("first")
	s.applied("first", "dev")
	before := in(t, s.propose("second", to("dev")), "dev").Preview
	var stack pulumiv1.Stack
	s.get("orders-dev", &stack)
	stack.Spec.Prerequisites = []pulumiv1.PrerequisiteRef{{Name: "network"}}
	if err := cluster.As(t, "dan", "developer").Update(t.Context(), &stack); err != nil {
		t.Fatal(err)
	}
	s.ends(before, v1alpha1.RunSucceeded)
	sc := in(t, s.look("second"), "dev")
	if sc.Plan != nil || sc.Preview == before || sc.Phase != v1alpha1.StackPreviewing {
		t.Errorf("phase %s, plan %+v, preview %s: the preview of the old Stack is used", sc.Phase, sc.Plan, sc.Preview)
	}
	if diff := cmp.Diff([]v1alpha1.Difference{{What: "stack", Detail: "the Stack's settings changed after the plan was made"}}, sc.Differences); diff != "" {
		t.Error(diff)
	}
}
