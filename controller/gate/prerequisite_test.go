package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestTurn(t *testing.T) {
	applied := func(age time.Duration) *v1alpha1.StackChange {
		at := metav1.NewTime(noon.Add(-age))
		return &v1alpha1.StackChange{Environment: "dev", Phase: v1alpha1.StackApplied, AppliedAt: &at}
	}
	in := func(phase v1alpha1.StackPhase) *v1alpha1.StackChange {
		return &v1alpha1.StackChange{Environment: "dev", Phase: phase}
	}
	day := &metav1.Duration{Duration: 24 * time.Hour}
	notYet := func(who string) *v1alpha1.Waiting {
		return &v1alpha1.Waiting{Kind: v1alpha1.WaitPrerequisite, Message: "It goes to test once it is applied and healthy in dev.", Who: who}
	}
	stuck := in(v1alpha1.StackInReview)
	stuck.Waiting = &v1alpha1.Waiting{Who: "members of sre"}
	// A refresh of an environment leaves the time of its last success in place.
	again := applied(time.Minute)
	again.Phase = v1alpha1.StackPreviewing
	for name, test := range map[string]struct {
		freshness *metav1.Duration
		upstream  []Upstream
		wait      *v1alpha1.Waiting
		stale     string
	}{
		"nothing comes first":                    {nil, nil, nil, ""},
		"applied before":                         {day, []Upstream{{"dev", applied(time.Hour)}}, nil, ""},
		"applied long ago, with any age allowed": {nil, []Upstream{{"dev", applied(1000 * time.Hour)}}, nil, ""},
		"applied exactly as long ago as allowed": {day, []Upstream{{"dev", applied(24 * time.Hour)}}, nil, ""},
		"applied too long ago": {
			day,
			[]Upstream{{"dev", applied(24*time.Hour + time.Second)}},
			&v1alpha1.Waiting{
				Kind: v1alpha1.WaitFreshness, Message: "dev was last applied more than 24 hours ago; it is applied again first.",
				Who: "nobody: the controller previews and applies dev again",
			},
			"dev",
		},
		"a preview does not satisfy it":         {nil, []Upstream{{"dev", in(v1alpha1.StackInReview)}}, notYet("nobody: dev is on its way"), ""},
		"an approval does not satisfy it":       {nil, []Upstream{{"dev", in(v1alpha1.StackApproved)}}, notYet("nobody: dev is on its way"), ""},
		"applied and not yet healthy":           {nil, []Upstream{{"dev", in(v1alpha1.StackVerifying)}}, notYet("nobody: dev is on its way"), ""},
		"applied once, and on its way again":    {day, []Upstream{{"dev", again}}, notYet("nobody: dev is on its way"), ""},
		"applied at no time":                    {nil, []Upstream{{"dev", in(v1alpha1.StackApplied)}}, notYet("nobody: dev is on its way"), ""},
		"it failed there":                       {nil, []Upstream{{"dev", in(v1alpha1.StackFailed)}}, notYet("the author: dev failed"), ""},
		"who can act there is who can act here": {nil, []Upstream{{"dev", stuck}}, notYet("members of sre"), ""},
		"one of two is not applied":             {nil, []Upstream{{"dev", applied(0)}, {"dev", in(v1alpha1.StackApplying)}}, notYet("nobody: dev is on its way"), ""},
		"all of two are applied":                {nil, []Upstream{{"dev", applied(0)}, {"eu", applied(0)}}, nil, ""},
		"the change does not go to the upstream": {
			nil,
			[]Upstream{{"dev", nil}},
			&v1alpha1.Waiting{
				Kind: v1alpha1.WaitPrerequisite, Message: "test comes after dev, and this change does not go to dev.",
				Who: "the author: propose the change for dev too",
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			environment := v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: "test"}, Spec: v1alpha1.EnvironmentSpec{Freshness: test.freshness}}
			wait, stale := Turn(environment, test.upstream, noon)
			if diff := cmp.Diff(test.wait, wait); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.stale, stale); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The rows are the operator's: what it lets through and holds back, with its
// words in the sentence.
func TestPrerequisite(t *testing.T) {
	succeeded := func(edits ...func(*pulumiv1.Stack)) *pulumiv1.Stack {
		s := &pulumiv1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "network", Generation: 2}}
		s.Status.LastUpdate = &pulumiv1.StackUpdateState{
			Generation: 2, Name: "network-1", Type: "up", State: "succeeded", LastResyncTime: metav1.NewTime(noon.Add(-time.Hour)),
		}
		for _, edit := range edits {
			edit(s)
		}
		return s
	}
	request := func(value string) func(*pulumiv1.Stack) {
		return func(s *pulumiv1.Stack) {
			s.Annotations = map[string]string{pulumiv1.ReconciliationRequestAnnotation: value}
		}
	}
	within := func(d time.Duration) *pulumiv1.RequirementSpec {
		return &pulumiv1.RequirementSpec{SucceededWithinDuration: &metav1.Duration{Duration: d}}
	}
	for name, test := range map[string]struct {
		stack       *pulumiv1.Stack
		requirement *pulumiv1.RequirementSpec
		want        string // the message; "" lets it through
	}{
		"it is not there":               {nil, nil, "Stack network is a prerequisite and does not exist."},
		"it never ran":                  {succeeded(func(s *pulumiv1.Stack) { s.Status.LastUpdate = nil }), nil, "Stack network is a prerequisite and has not run to completion."},
		"it has a newer generation":     {succeeded(func(s *pulumiv1.Stack) { s.Generation = 3 }), nil, "Stack network is a prerequisite and has not run to completion."},
		"it was asked to run again":     {succeeded(request("after-x")), nil, "Stack network is a prerequisite and has not run to completion."},
		"it ran as it was asked":        {succeeded(request("after-x"), func(s *pulumiv1.Stack) { s.Status.LastUpdate.ReconcileRequest = "after-x" }), nil, ""},
		"it failed":                     {succeeded(func(s *pulumiv1.Stack) { s.Status.LastUpdate.State = "failed" }), nil, "Stack network is a prerequisite and failed."},
		"it succeeded, at any time":     {succeeded(), nil, ""},
		"it succeeded, with no bound":   {succeeded(), &pulumiv1.RequirementSpec{}, ""},
		"it succeeded within the bound": {succeeded(), within(90 * time.Minute), ""},
		"it succeeded just in time":     {succeeded(), within(time.Hour), ""},
		"it succeeded too long ago":     {succeeded(), within(30 * time.Minute), "Stack network is a prerequisite and is out of date: it succeeded more than 30 minutes ago."},
		"it was only previewed":         {succeeded(func(s *pulumiv1.Stack) { s.Status.LastUpdate.Type = "preview" }), nil, "Stack network is a prerequisite and was not brought up: its last operation was a preview."},
		"it was destroyed":              {succeeded(func(s *pulumiv1.Stack) { s.Status.LastUpdate.Type = "destroy" }), nil, "Stack network is a prerequisite and was not brought up: its last operation was a destroy."},
		"conditions are not looked at": {succeeded(func(s *pulumiv1.Stack) {
			s.Status.Conditions = []metav1.Condition{{Type: "Stalled", Status: metav1.ConditionTrue}}
		}), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Prerequisite(pulumiv1.PrerequisiteRef{Name: "network", Requirement: test.requirement}, test.stack, noon)
			var want *v1alpha1.Waiting
			if test.want != "" {
				want = &v1alpha1.Waiting{Kind: v1alpha1.WaitPrerequisite, Message: test.want, Who: "whoever can bring Stack network up"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRetryDelay(t *testing.T) {
	for failures, want := range map[int32]time.Duration{
		0: 10 * time.Second, 1: 10 * time.Second, 2: 30 * time.Second, 3: 90 * time.Second,
		4: 270 * time.Second, 5: 5 * time.Minute, 1000: 5 * time.Minute,
	} {
		if got := RetryDelay(failures); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
}
