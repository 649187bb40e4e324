package program

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

const (
	allowed  = "fn::join, fn::split, fn::select, fn::toJSON, fn::toBase64, fn::fromBase64, fn::secret"
	readFile = "fn::readFile is not allowed in a Program; there is " + allowed + "."
	reads    = " is not allowed: it reads files or the network while it is previewed. Write the objects out, or ask the platform team for a golden path."
	engines  = " is not allowed: which cluster and which credentials are used, and what other stacks are read, is for the environment to say."
	provider = "A provider of its own is not allowed: which cluster and credentials are used is for the environment to say."
)

// A preview runs before anybody has looked at the Program, so each way to make it
// read or call something is tried at each place that the engine evaluates.
func TestAProgramCannotReachOut(t *testing.T) {
	const evil = `{"fn::readFile":"/etc/passwd"}`
	notes := func(edit func(*pulumiv1.Resource)) func(*pulumiv1.ProgramSpec) {
		return func(s *pulumiv1.ProgramSpec) {
			resource := s.Resources["notes"]
			edit(&resource)
			s.Resources["notes"] = resource
		}
	}
	options := func(o pulumiv1.ResourceOptions) func(*pulumiv1.ProgramSpec) {
		return notes(func(r *pulumiv1.Resource) { r.Options = &o })
	}
	ofType := func(t string) func(*pulumiv1.ProgramSpec) {
		return notes(func(r *pulumiv1.Resource) { r.Type = t })
	}
	variable := func(json string) func(*pulumiv1.ProgramSpec) {
		return func(s *pulumiv1.ProgramSpec) { s.Variables["more"] = value(json) }
	}
	for name, test := range map[string]struct {
		edit func(*pulumiv1.ProgramSpec)
		want []v1alpha1.Problem
	}{
		"a file in a property": {
			notes(func(r *pulumiv1.Resource) { r.Properties["data"] = value(`{"a":[` + evil + `]}`) }),
			problem("resources.notes.properties.data.a[0]", readFile),
		},
		"a file in a variable":              {variable(evil), problem("variables.more", readFile)},
		"a file inside an allowed function": {variable(`{"fn::toBase64":` + evil + `}`), problem("variables.more.fn::toBase64", readFile)},
		"a file in the default of a setting": {func(s *pulumiv1.ProgramSpec) {
			s.Configuration["more"] = pulumiv1.Configuration{Default: new(value(evil))}
		}, problem("configuration.more.default", readFile)},
		"a file in an output":    {func(s *pulumiv1.ProgramSpec) { s.Outputs["more"] = value(evil) }, problem("outputs.more", readFile)},
		"a file in a dependency": {options(pulumiv1.ResourceOptions{DependsOn: []apiextensionsv1.JSON{value(evil)}}), problem("resources.notes.options.dependsOn[0]", readFile)},
		"a file in a parent":     {options(pulumiv1.ResourceOptions{Parent: new(value(evil))}), problem("resources.notes.options.parent", readFile)},
		"a file in what is read": {
			notes(func(r *pulumiv1.Resource) {
				r.Get = &pulumiv1.Getter{ID: "x", State: map[string]apiextensionsv1.JSON{"a": value(evil)}}
			}),
			problem("resources.notes.get.state.a", readFile),
		},
		"a function of a provider": {
			variable(`{"fn::invoke":{"function":"kubernetes:yaml:decode"}}`),
			problem("variables.more", "fn::invoke is not allowed in a Program; there is "+allowed+"."),
		},
		"a function in another spelling": {
			variable(`{"FN::ReadFile":"x"}`),
			problem("variables.more", "FN::ReadFile is not allowed in a Program; there is "+allowed+"."),
		},
		"another stack by function": {
			variable(`{"fn::stackReference":"x"}`),
			problem("variables.more", "fn::stackReference is not allowed in a Program; there is "+allowed+"."),
		},
		"an allowed function in any spelling": {variable(`{"Fn::ToJson":{"a":1}}`), nil},
		"another stack by resource":           {ofType("pulumi:pulumi:StackReference"), problem("resources.notes.type", "pulumi:pulumi:StackReference"+engines)},
		"a provider as a resource":            {ofType("pulumi:providers:kubernetes"), problem("resources.notes.type", "pulumi:providers:kubernetes"+engines)},
		"a Helm release":                      {ofType("kubernetes:helm.sh/v3:Release"), problem("resources.notes.type", "kubernetes:helm.sh/v3:Release"+reads)},
		"a Helm chart":                        {ofType("kubernetes:helm.sh/v4:Chart"), problem("resources.notes.type", "kubernetes:helm.sh/v4:Chart"+reads)},
		"a YAML file":                         {ofType("kubernetes:yaml:ConfigFile"), problem("resources.notes.type", "kubernetes:yaml:ConfigFile"+reads)},
		"a group of YAML files":               {ofType("kubernetes:yaml/v2:ConfigGroup"), problem("resources.notes.type", "kubernetes:yaml/v2:ConfigGroup"+reads)},
		"a kustomization":                     {ofType("kubernetes:kustomize/v2:Directory"), problem("resources.notes.type", "kubernetes:kustomize/v2:Directory"+reads)},
		"an ordinary object":                  {ofType("kubernetes:apps/v1:Deployment"), nil},
		"a provider of its own":               {options(pulumiv1.ResourceOptions{Provider: new(value(`"${notes}"`))}), append(problem("resources.notes", "These refer to each other in a circle: notes → notes. Break it at one place."), problem("resources.notes.options", provider)...)},
		"providers of its own":                {options(pulumiv1.ResourceOptions{Providers: map[string]apiextensionsv1.JSON{"kubernetes": value(`"${db}"`)}}), problem("resources.notes.options", provider)},
		"an import":                           {options(pulumiv1.ResourceOptions{Import: "shop/notes"}), problem("resources.notes.options.import", "Import is not allowed in a change yet: ask the platform team to bring an existing object into the state.")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Validate(with(t, test.edit), shelf())); diff != "" {
				t.Error(diff)
			}
		})
	}
}
