package change

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// withdraw takes a change back in ana's name and has the reconciler look.
func (s *scene) withdraw(name string) *v1alpha1.ChangeRequest {
	s.Helper()
	cr := s.changeRequest(name)
	cr.Spec.Withdrawn = true
	if err := cluster.As(s, "ana", "developer").Update(s.Context(), cr); err != nil {
		s.Fatal(err)
	}
	return s.look(name)
}

func TestAWithdrawnChange(t *testing.T) {
	s := newScene(t)
	preview := in(t, s.propose("first", to("dev")), "dev").Preview
	cr := s.withdraw("first")
	want := []string{"Withdrawn", "dev Previewing", "Taken back. What was applied stays as it is."}
	if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Progress, cr.Status.Message}); diff != "" {
		t.Error(diff)
	}
	if !s.run(preview).Spec.Cancel {
		t.Error("its preview goes on")
	}
	s.ends(preview, v1alpha1.RunSucceeded)
	s.look("first")
	if n := len(s.runs(v1alpha1.Up)); n != 0 {
		t.Errorf("%d applies of it", n)
	}
}

func TestAWithdrawnChangeEndsItsApplyFirst(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	s.approved("first", "test")
	cr := s.withdraw("first")
	if cr.Status.Phase.Done() {
		t.Fatalf("phase %s, though dev is being applied", cr.Status.Phase)
	}
	if s.run(in(t, cr, "dev").Apply).Spec.Cancel {
		t.Error("the apply is cancelled; it was to end clean")
	}
	cr = s.applied("first", "dev")
	if diff := cmp.Diff("Withdrawn: dev Applied, test Approved", string(cr.Status.Phase)+": "+cr.Status.Progress); diff != "" {
		t.Error(diff)
	}
	if n := len(s.runs(v1alpha1.Up)); n != 1 {
		t.Errorf("%d applies, want that of dev alone", n)
	}
}

// Changes of the same second follow each other by name: first, second.

func TestANewerChangeTakesThePlace(t *testing.T) {
	s := newScene(t)
	preview := in(t, s.propose("first", to("dev", "test")), "dev").Preview
	s.propose("second", to("dev"))
	cr := s.look("first")
	want := []string{"Superseded", "second by ana took its place."}
	if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Message}); diff != "" {
		t.Error(diff)
	}
	if !s.run(preview).Spec.Cancel {
		t.Error("the preview of the older one goes on")
	}
	if cr := s.look("second"); cr.Status.Phase.Done() {
		t.Errorf("the newer one: %s", cr.Status.Phase)
	}
}

func TestANewerChangeWaitsForTheApplyOfAnOlderOne(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev", "test"))
	s.previewed("first")
	s.approved("first", "test")
	second := s.propose("second", to("dev"))
	if diff := cmp.Diff("dev: Change first is still being applied; this one is previewed after it.", second.Status.Message); diff != "" {
		t.Error(diff)
	}
	if cr := s.look("first"); cr.Status.Phase.Done() {
		t.Fatalf("the older one ended in the middle of its apply: %s", cr.Status.Phase)
	}
	cr := s.applied("first", "dev")
	if diff := cmp.Diff("Superseded: dev Applied, test Approved", string(cr.Status.Phase)+": "+cr.Status.Progress); diff != "" {
		t.Error(diff)
	}
	if sc := in(t, s.look("second"), "dev"); sc.Phase != v1alpha1.StackPreviewing {
		t.Errorf("the newer one: %s", sc.Phase)
	}
}

func TestARefusedChangeTakesNobodysPlace(t *testing.T) {
	s := newScene(t)
	s.propose("first", to("dev"))
	cr := s.propose("second", to("dev", "moon"))
	if diff := cmp.Diff(v1alpha1.ChangeRefused, cr.Status.Phase); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(v1alpha1.ChangePreviewing, s.look("first").Status.Phase); diff != "" {
		t.Error(diff)
	}
}

func TestTheSameChangeTwice(t *testing.T) {
	s := newScene(t)
	same := func(spec *v1alpha1.ChangeRequestSpec) { spec.Program = content("same"); to("dev")(spec) }
	s.propose("one", same)
	cr := s.propose("two", same)
	want := []string{"Refused", "The same change is already open as one (Previewing)."}
	if diff := cmp.Diff(want, []string{string(cr.Status.Phase), cr.Status.Message}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(v1alpha1.ChangePreviewing, s.look("one").Status.Phase); diff != "" {
		t.Error(diff)
	}
	s.previewed("one")
	s.applied("one", "dev")
	// The first has ended: proposing it again is a change of its own.
	if cr := s.propose("two-again", same); cr.Status.Phase != v1alpha1.ChangePreviewing {
		t.Errorf("phase %s: %s", cr.Status.Phase, cr.Status.Message)
	}
}

func TestWhatNeverCanBePreviewedIsRefused(t *testing.T) {
	draft := &v1alpha1.GoldenPathVersion{
		ObjectMeta: metav1.ObjectMeta{Name: "drafted-1.0.0"},
		Spec: v1alpha1.GoldenPathVersionSpec{
			GoldenPath: "drafted", Version: "1.0.0", Stage: v1alpha1.StageDraft, Token: "drafted:index:Thing", Component: "x",
			Digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		},
	}
	for name, test := range map[string]struct {
		edit func(*v1alpha1.ChangeRequestSpec)
		want []v1alpha1.Problem
	}{
		"an environment that is not there": {
			to("dev", "mars"),
			[]v1alpha1.Problem{{Path: "environments.mars", Message: `There is no environment "mars"; there is `}},
		},
		"a Program with a fault": {
			func(spec *v1alpha1.ChangeRequestSpec) { spec.Program.Resources = nil },
			[]v1alpha1.Problem{{Path: "resources", Message: "The Program has no resources: add at least one golden path instance."}},
		},
		"a golden path that is not published": {
			func(spec *v1alpha1.ChangeRequestSpec) {
				spec.Program.Packages = map[string]string{"drafted": "drafted@1.0.0"}
			},
			[]v1alpha1.Problem{{Path: "packages.drafted", Message: `There is no golden path "drafted"; the catalogue has `}},
		},
		"a setting that the Program does not declare": {
			func(spec *v1alpha1.ChangeRequestSpec) {
				to("dev")(spec)
				spec.Environments[0].SecretsRef = map[string]v1alpha1.SecretKeyRef{"colour": {Name: "a", Key: "b"}}
			},
			[]v1alpha1.Problem{{Path: "environments.dev.secretsRef.colour", Message: `The Program declares no configuration "colour"; it declares size.`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.has(draft.DeepCopy())
			cr := s.propose("first", test.edit)
			if diff := cmp.Diff(v1alpha1.ChangeRefused, cr.Status.Phase); diff != "" {
				t.Error(diff)
			}
			// Other tests add to what there is, so lists at the end are not compared.
			for i, problem := range cr.Status.Problems {
				if i < len(test.want) {
					want := test.want[i].Message
					cr.Status.Problems[i].Message = problem.Message[:min(len(want), len(problem.Message))]
				}
			}
			if diff := cmp.Diff(test.want, cr.Status.Problems); diff != "" {
				t.Error(diff)
			}
			if n := len(s.runs(v1alpha1.Preview)); n != 0 {
				t.Errorf("%d previews of it", n)
			}
		})
	}
}

// A version that is retired under way goes on for the changes that have begun: they
// were judged when they were made.
func TestAGoldenPathThatIsRetiredUnderWay(t *testing.T) {
	s := newScene(t)
	path := "leaving-" + s.namespace // of this test alone: it does not come back
	version := &v1alpha1.GoldenPathVersion{
		ObjectMeta: metav1.ObjectMeta{Name: path + "-1.0.0"},
		Spec: v1alpha1.GoldenPathVersionSpec{
			GoldenPath: path, Version: "1.0.0", Stage: v1alpha1.StagePublished, Token: path + ":index:Thing", Component: "x",
			Digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		},
	}
	s.has(version)
	use := func(spec *v1alpha1.ChangeRequestSpec) {
		to("dev", "test")(spec)
		spec.Program.Packages = map[string]string{path: path + "@1.0.0"}
	}
	s.propose("first", use)
	s.previewed("first")
	s.applied("first", "dev")
	version.Spec.Stage = v1alpha1.StageRetired
	if err := s.admin.Update(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	cr := s.approved("first", "test")
	want := []v1alpha1.PinnedGoldenPath{{Name: path, Version: "1.0.0", Digest: version.Spec.Digest}}
	if diff := cmp.Diff(want, s.run(in(t, cr, "test").Apply).Spec.GoldenPaths); diff != "" {
		t.Error(diff)
	}
	if cr := s.propose("second", use, func(spec *v1alpha1.ChangeRequestSpec) { spec.Description = "again" }); cr.Status.Phase != v1alpha1.ChangeRefused {
		t.Errorf("a new change may use it: %s", cr.Status.Phase)
	}
}
