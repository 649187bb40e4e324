package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/fault"
)

func TestReviewable(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	change := func(phase v1alpha1.ChangePhase, stack v1alpha1.StackPhase, planned bool) *v1alpha1.ChangeRequest {
		sc := v1alpha1.StackChange{Environment: "prod", Phase: stack}
		if planned {
			sc.Plan = &v1alpha1.PlanReference{Digest: digest}
		}
		return &v1alpha1.ChangeRequest{Status: v1alpha1.ChangeRequestStatus{Phase: phase, Stacks: []v1alpha1.StackChange{{Environment: "dev"}, sc}}}
	}
	inReview := change(v1alpha1.ChangeInReview, v1alpha1.StackInReview, true)
	for name, test := range map[string]struct {
		change              *v1alpha1.ChangeRequest
		environment, digest string
		want                string // "" lets it through
	}{
		"a plan that waits":                  {inReview, "prod", "", ""},
		"a plan that is approved already":    {change(v1alpha1.ChangeApplying, v1alpha1.StackApproved, true), "prod", "", ""},
		"the plan that was seen":             {inReview, "prod", "abababababab", ""},
		"the plan that was seen, in full":    {inReview, "prod", digest, ""},
		"another plan than was seen":         {inReview, "prod", "cdcdcdcdcdcd", "The plan for prod is now abababababab, not cdcdcdcdcdcd; look at it again."},
		"too little of a digest":             {inReview, "prod", "abab", "The plan for prod is now abababababab, not abab; look at it again."},
		"a plan that is not there yet":       {change(v1alpha1.ChangePreviewing, v1alpha1.StackPreviewing, false), "prod", "", "There is no plan for prod yet (Previewing); look again in a moment."},
		"a plan that is being applied":       {change(v1alpha1.ChangeApplying, v1alpha1.StackApplying, true), "prod", "", "The plan for prod is past review: Applying."},
		"a change that has ended":            {change(v1alpha1.ChangeRejected, v1alpha1.StackInReview, true), "prod", "", "The change has ended: Rejected."},
		"an environment it does not go to":   {inReview, "moon", "", `The change does not go to "moon"; it goes to dev, prod.`},
		"a change that is not looked at yet": {&v1alpha1.ChangeRequest{}, "prod", "", "The change has no plans yet (Not looked at yet); look again in a moment."},
	} {
		t.Run(name, func(t *testing.T) {
			sc, err := reviewable(test.change, test.environment, test.digest)
			message, _ := fault.Message(err)
			if diff := cmp.Diff(test.want, message); diff != "" {
				t.Error(diff)
			}
			if err == nil && sc.Environment != test.environment {
				t.Errorf("the plan of %s", sc.Environment)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	reviews := schema.GroupResource{Group: "towpath.dev", Resource: "reviews"}
	denied := apierrors.NewForbidden(reviews, "r", errors.New("ValidatingAdmissionPolicy 'reviews' with binding 'b' denied request: You may not review changes for environment prod."))
	for name, test := range map[string]struct {
		err  error
		want string
		kind fault.Kind
	}{
		"a policy's refusal in its own words": {denied, "You may not approve this plan: You may not review changes for environment prod.", fault.Forbidden},
		"a right that is missing":             {apierrors.NewForbidden(reviews, "r", errors.New(`User "ana" cannot create`)), `You may not approve this plan: User "ana" cannot create`, fault.Forbidden},
		"a schema's refusal":                  {apierrors.NewBadRequest("spec.service: too long"), "The cluster refused to approve this plan: spec.service: too long", fault.Invalid},
		"something that is too large":         {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), "The cluster refused to approve this plan: it is too large.", fault.Invalid},
		"a cluster that is not there":         {errors.New("dial tcp 127.0.0.1:1: connection refused"), "The cluster cannot be reached. Is it running?", fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			err := explain(test.err, "approve this plan")
			message, _ := fault.Message(err)
			if diff := cmp.Diff(test.want, message); diff != "" {
				t.Error(diff)
			}
			if !fault.Is(err, test.kind) || !errors.Is(err, test.err) {
				t.Errorf("%v has another kind, or lost its cause", err)
			}
		})
	}
	if err := explain(nil, "x"); err != nil {
		t.Errorf("nothing went wrong, and it says %v", err)
	}
	conflict := apierrors.NewConflict(reviews, "r", errors.New("modified"))
	if err := explain(conflict, "x"); !apierrors.IsConflict(err) {
		t.Errorf("%v is no conflict any more", err)
	}
}

func TestRefused(t *testing.T) {
	if err := refused(nil); err != nil {
		t.Errorf("no problem, and it says %v", err)
	}
	err := refused([]v1alpha1.Problem{{Path: "resources.db", Message: "It is wrong."}, {Path: "a\x1b[2J", Message: "So is\nthis."}})
	message, _ := fault.Message(err)
	want := "The proposal is refused; nothing has changed.\n  resources.db: It is wrong.\n  a\\x1b[2J: So is\\nthis."
	if diff := cmp.Diff(want, message); diff != "" {
		t.Error(diff)
	}
}

func TestShortDigests(t *testing.T) {
	for digest, want := range map[string]string{
		"": "", "sha256:": "", "sha256:abc": "abc", "sha256:" + strings.Repeat("ab", 32): "abababababab", "abc": "abc",
	} {
		if diff := cmp.Diff(want, short(digest)); diff != "" {
			t.Errorf("%q:\n%s", digest, diff)
		}
	}
}
