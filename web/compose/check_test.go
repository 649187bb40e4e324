package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestProblemsSpeakAsTheFormDoes(t *testing.T) {
	t.Parallel()
	image := v1alpha1.GoldenPathInput{Name: "image", Label: "Image"}
	env := v1alpha1.GoldenPathInput{Name: "env", Label: "Environment variables"}
	for name, test := range map[string]struct {
		input         v1alpha1.GoldenPathInput
		message, want string
	}{
		"an input":           {image, "image is required", "Image is required"},
		"without a label":    {v1alpha1.GoldenPathInput{Name: "image"}, "image is required", "image is required"},
		"an entry":           {env, "env.LOG must be text; it is true", "LOG in Environment variables must be text; it is true"},
		"the name of one":    {env, `a name in env must be letters; it is "1"`, `A name in Environment variables must be letters; it is "1"`},
		"an element":         {v1alpha1.GoldenPathInput{Name: "hosts", Label: "Hosts"}, "hosts[1] must be a host name", "Line 2 of Hosts must be a host name"},
		"a longer name":      {image, "imagePullSecret is required", "imagePullSecret is required"},
		"no input to be for": {v1alpha1.GoldenPathInput{}, "web-service has no input imag", "web-service has no input imag"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, told(test.input, test.message)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
