package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

const brokenComponent = `
name: broken
runtime: yaml
components:
  Broken:
    inputs:
      colour: {type: string, default: blue}
    resources:
      settings:
        type: kubernetes:core/v1:ConfigMap
        properties:
          metadata: {name: Not_A_Name}
          data: {colour: "${colour}"}
    outputs: {}
`

// A component that fails while it is previewed ends the change, says why and
// leaves nothing behind.
func TestAComponentThatFails(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	platform := p.as(t, "platform")
	inputs := []v1alpha1.GoldenPathInput{{Name: "colour", Type: v1alpha1.TypeString, Default: &apiextensionsv1.JSON{Raw: json.RawMessage(`"blue"`)}}}
	const token = "broken:index:Broken"
	for _, object := range []client.Object{
		&v1alpha1.GoldenPath{
			ObjectMeta: metav1.ObjectMeta{Name: "broken"},
			Spec:       v1alpha1.GoldenPathSpec{Title: "Broken", Owner: "platform"},
		},
		&v1alpha1.GoldenPathVersion{
			ObjectMeta: metav1.ObjectMeta{Name: "broken-0.1.0"},
			Spec: v1alpha1.GoldenPathVersionSpec{
				GoldenPath: "broken", Version: "0.1.0", Stage: v1alpha1.StagePublished, Token: token,
				Component: brokenComponent, Inputs: inputs, Digest: goldenpaths.Digest(token, brokenComponent, inputs),
			},
		},
	} {
		if err := platform.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	program := map[string]any{
		"packages":  map[string]any{"broken": "broken@0.1.0"},
		"resources": map[string]any{"it": resource(token, map[string]any{"colour": "red"})},
	}
	cr := p.awaitEnd(t, p.propose(t, "developer", changeRequest("fails", program, "dev")), v1alpha1.ChangeFailed)
	for _, want := range []string{"dev: The preview failed: ", "it-settings", `"Not_A_Name"`, "a lowercase RFC 1123 subdomain must consist of"} {
		if !strings.Contains(cr.Status.Message, want) {
			t.Errorf("the change does not say %q; it says: %s", want, cr.Status.Message)
		}
	}
	if n := strings.Count(cr.Status.Message, "The preview failed: "); n != 1 {
		t.Errorf("it says %d times that the preview failed: %s", n, cr.Status.Message)
	}
	if shown := p.show(t, cr.Name); !strings.Contains(shown, "== dev: Failed") {
		t.Errorf("show says:\n%s", shown)
	}
	if slices.Contains(p.names(t, &pulumiv1.ProgramList{}, team), "fails") || slices.Contains(p.names(t, &pulumiv1.StackList{}, team), "fails-dev") {
		t.Error("a Program or a Stack came of it")
	}
	t.Run("its log tells the same", func(t *testing.T) {
		said := p.towpath(t, "developer", "", "logs", in(cr, "dev").Preview, "-f").works(t).out
		if !strings.Contains(said, "Not_A_Name") || !strings.Contains(said, "Failed: ") {
			t.Errorf("logs says:\n%s", said)
		}
	})
	t.Run("what was published stays what it is", func(t *testing.T) {
		version := &v1alpha1.GoldenPathVersion{}
		if err := platform.Get(t.Context(), client.ObjectKey{Name: "broken-0.1.0"}, version); err != nil {
			t.Fatal(err)
		}
		version.Spec.Component = strings.Replace(brokenComponent, "Not_A_Name", "a-name", 1)
		err := platform.Update(t.Context(), version)
		if err == nil || !strings.Contains(err.Error(), "broken-0.1.0 is Published and no longer changes") {
			t.Errorf("an update of a published version ends with %v", err)
		}
	})
	t.Run("the proposal can be mended", func(t *testing.T) {
		cr := p.awaitEnd(t, p.propose(t, "developer", proposal("fails", "red", "dev")), v1alpha1.ChangeApplied)
		got := get(t, p, "shop-dev", "fails", &corev1.ConfigMap{}).Data
		if diff := cmp.Diff(map[string]string{"colour": "red"}, got); diff != "" {
			t.Errorf("%s:\n%s", cr.Name, diff)
		}
	})
}
