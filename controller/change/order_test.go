package change

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// after makes environments of names and those that each comes after.
func after(names map[string][]v1alpha1.EnvironmentName) map[string]v1alpha1.Environment {
	all := map[string]v1alpha1.Environment{}
	for name, first := range names {
		all[name] = environment(name, func(e *v1alpha1.EnvironmentSpec) { e.After = first })
	}
	return all
}

func TestOrder(t *testing.T) {
	type names = []v1alpha1.EnvironmentName
	line := after(map[string][]v1alpha1.EnvironmentName{"dev": nil, "test": names{"dev"}, "prod": names{"test"}})
	for name, test := range map[string]struct {
		given        []string
		environments map[string]v1alpha1.Environment
		want         []string
	}{
		"nothing":                    {nil, line, nil},
		"a line":                     {[]string{"prod", "test", "dev"}, line, []string{"dev", "test", "prod"}},
		"a gap in the line":          {[]string{"prod", "dev"}, line, []string{"dev", "prod"}},
		"without a rule, the name":   {[]string{"b", "c", "a"}, after(nil), []string{"a", "b", "c"}},
		"a diamond":                  {[]string{"prod", "us", "eu", "dev"}, after(map[string][]v1alpha1.EnvironmentName{"eu": names{"dev"}, "us": names{"dev"}, "prod": names{"eu", "us"}}), []string{"dev", "eu", "us", "prod"}},
		"a circle comes last":        {[]string{"b", "a", "dev"}, after(map[string][]v1alpha1.EnvironmentName{"a": names{"b"}, "b": names{"a"}}), []string{"dev", "a", "b"}},
		"an environment that is not": {[]string{"prod", "moon"}, line, []string{"moon", "prod"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, order(test.given, test.environments)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSummarise(t *testing.T) {
	type names = []v1alpha1.EnvironmentName
	line := after(map[string][]v1alpha1.EnvironmentName{"dev": nil, "test": names{"dev"}, "prod": names{"test"}})
	fork := after(map[string][]v1alpha1.EnvironmentName{"dev": nil, "eu": names{"dev"}, "us": names{"dev"}})
	is := func(environment string, phase v1alpha1.StackPhase) v1alpha1.StackChange {
		return v1alpha1.StackChange{Environment: environment, Phase: phase, Message: "Because."}
	}
	waits := func(sc v1alpha1.StackChange, message string) v1alpha1.StackChange {
		sc.Waiting = &v1alpha1.Waiting{Message: message}
		return sc
	}
	const (
		pending, previewing, review, approved = v1alpha1.StackPending, v1alpha1.StackPreviewing, v1alpha1.StackInReview, v1alpha1.StackApproved
		applying, verifying, applied          = v1alpha1.StackApplying, v1alpha1.StackVerifying, v1alpha1.StackApplied
		rejected, failed                      = v1alpha1.StackRejected, v1alpha1.StackFailed
	)
	for name, test := range map[string]struct {
		environments map[string]v1alpha1.Environment
		stacks       []v1alpha1.StackChange
		phase        v1alpha1.ChangePhase
		progress     string
		message      string
	}{
		"nothing yet":                      {line, nil, v1alpha1.ChangePreviewing, "", ""},
		"previews":                         {line, []v1alpha1.StackChange{is("dev", previewing), is("test", review)}, v1alpha1.ChangePreviewing, "dev Previewing, test AwaitingReview", ""},
		"the first that is open tells":     {line, []v1alpha1.StackChange{is("dev", applied), waits(is("test", review), "Sign it."), waits(is("prod", review), "Sign that.")}, v1alpha1.ChangeInReview, "dev Applied, test AwaitingReview, prod AwaitingReview", "test: Sign it."},
		"approved and on its way":          {line, []v1alpha1.StackChange{is("dev", approved)}, v1alpha1.ChangeApplying, "dev Approved", ""},
		"applied and not yet healthy":      {line, []v1alpha1.StackChange{is("dev", verifying)}, v1alpha1.ChangeApplying, "dev Verifying", ""},
		"a new preview after the first is": {line, []v1alpha1.StackChange{is("dev", applied), is("test", pending)}, v1alpha1.ChangeApplying, "dev Applied, test Pending", ""},
		"all applied":                      {line, []v1alpha1.StackChange{is("dev", applied), is("test", applied)}, v1alpha1.ChangeApplied, "dev Applied, test Applied", "Applied and healthy in dev and test."},
		"one applied, of one":              {line, []v1alpha1.StackChange{is("dev", applied)}, v1alpha1.ChangeApplied, "dev Applied", "Applied and healthy in dev."},
		"a rejection ends what follows":    {line, []v1alpha1.StackChange{is("dev", rejected), is("test", review), is("prod", review)}, v1alpha1.ChangeRejected, "dev Rejected, test AwaitingReview, prod AwaitingReview", "dev: Because."},
		"a failure ends what follows":      {line, []v1alpha1.StackChange{is("dev", applied), is("test", failed), is("prod", approved)}, v1alpha1.ChangeFailed, "dev Applied, test Failed, prod Approved", "test: Because."},
		"a branch goes on":                 {fork, []v1alpha1.StackChange{is("dev", applied), is("eu", failed), waits(is("us", applying), "Applying.")}, v1alpha1.ChangeApplying, "dev Applied, eu Failed, us Applying", "us: Applying."},
		"both branches have ended":         {fork, []v1alpha1.StackChange{is("dev", applied), is("eu", failed), is("us", applied)}, v1alpha1.ChangeFailed, "dev Applied, eu Failed, us Applied", "eu: Because."},
		"the first of two ends is told":    {fork, []v1alpha1.StackChange{is("dev", applied), is("eu", rejected), is("us", failed)}, v1alpha1.ChangeRejected, "dev Applied, eu Rejected, us Failed", "eu: Because."},
	} {
		t.Run(name, func(t *testing.T) {
			cr := &v1alpha1.ChangeRequest{Status: v1alpha1.ChangeRequestStatus{Stacks: test.stacks}}
			summarise(cr, &world{cr: cr, environments: test.environments})
			want := []string{string(test.phase), test.progress, test.message}
			if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Progress, cr.Status.Message}); diff != "" {
				t.Error(diff)
			}
			for _, sc := range cr.Status.Stacks {
				if cr.Status.Phase.Done() && sc.Waiting != nil {
					t.Errorf("%s still waits", sc.Environment)
				}
			}
		})
	}
}
