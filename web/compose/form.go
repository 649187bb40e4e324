// Package compose is the form that proposes a service: what people have typed,
// the Program and values that it makes, and what is wrong with it, each problem at
// its field. It also reads a Program back into a form, also one written by hand:
// what no field can show is carried along and kept. It is pure: it knows no HTML,
// reads no cluster and writes nothing.
package compose

import (
	"cmp"
	"crypto/rand"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// World is what a form is about.
type World struct {
	Catalogue program.Catalogue
	// Environments in their order.
	Environments []v1alpha1.Environment
	// Stacks are those that the service has.
	Stacks []*pulumiv1.Stack
	// Teams are the namespaces that the person may propose for.
	Teams []string
	// GoldenPaths are the cards of the catalogue, by name.
	GoldenPaths map[string]v1alpha1.GoldenPathSpec
}

// Title is what people call a golden path.
func (w World) Title(path string) string { return cmp.Or(w.GoldenPaths[path].Title, path) }

// Stages are the environments that a new service can go to, in their order.
func (w World) Stages() []v1alpha1.Environment {
	return slices.DeleteFunc(slices.Clone(w.Environments), func(e v1alpha1.Environment) bool {
		return e.Name == v1alpha1.DefaultEnvironment
	})
}

// Form is what a person has filled in.
type Form struct {
	// Draft is the form's own random name. It is nowhere else but in the form.
	Draft string
	// Fixed says that the form is about a service that exists.
	Fixed bool
	// Base is the digest of the Program that the form was made from.
	Base                            string
	Namespace, Service, Description string
	Instances                       []Instance
	// Environments are the chosen ones.
	Environments []string
	Rest         Rest
	// AddPath and AddName are what the next instance is to be.
	AddPath, AddName string
}

// Instance is one use of a golden path.
type Instance struct {
	Name, Path string
	Inputs     map[string]Input
	// Exports are the outputs that the service shows.
	Exports []string
}

// Input is what was filled in for one input of an instance.
type Input struct {
	// Text is the value for all environments, as typed.
	Text string
	// Wire is instance.output, if the value comes from there.
	Wire string
	// Each are values for single environments, as typed.
	Each map[string]string
	// Secrets are secret values, by environment.
	Secrets map[string]Secret
}

// Secret is a secret value of one environment: one that was typed, or a Kubernetes
// Secret that has it.
type Secret struct {
	// Value is what was typed. It is shown to nobody.
	Value string
	// Ref is name/key of a Secret in the team's namespace.
	Ref string
}

// Rest is what a Program holds beyond what the fields show. It travels with the
// form, as JSON.
type Rest struct {
	// Program holds the parts that no field shows.
	Program pulumiv1.ProgramSpec `json:"program,omitempty"`
	// Versions pins golden paths, by name.
	Versions map[string]string `json:"versions,omitempty"`
	// Extras are parts of instances that no field shows, by the instance's name.
	Extras map[string]Extra `json:"extras,omitempty"`
	// Keys are the config keys that hold inputs, by instance.input.
	Keys map[string]string `json:"keys,omitempty"`
	// Names are the names of outputs of the Program, by instance.output.
	Names map[string]string `json:"names,omitempty"`
	// Values are values of environments for config that no field shows.
	Values map[string]Values `json:"values,omitempty"`
}

// Extra is what no field shows of an instance.
type Extra struct {
	Properties map[string]apiextensionsv1.JSON `json:"properties,omitempty"`
	Options    *pulumiv1.ResourceOptions       `json:"options,omitempty"`
}

// Values are an environment's values for config.
type Values struct {
	Config     map[string]apiextensionsv1.JSON  `json:"config,omitempty"`
	SecretsRef map[string]v1alpha1.SecretKeyRef `json:"secretsRef,omitempty"`
}

// Problem is something to mend, at a field; Field is empty when no field is to
// blame.
type Problem struct {
	Field, Message string
}

// Instance is the instance that the problem is in; empty when it is in none.
func (p Problem) Instance() string {
	kind, rest, _ := strings.Cut(p.Field, ".")
	if kind == p.Field {
		return ""
	}
	name, _, _ := strings.Cut(rest, ".")
	return name
}

// The names of fields; they are also what problems name.
const (
	FieldNamespace    = "namespace"
	FieldService      = "service"
	FieldDescription  = "description"
	FieldAddPath      = "add-path"
	FieldAddName      = "add-name"
	FieldEnvironments = "environments"
)

// FieldInstance is an instance as a whole.
func FieldInstance(instance string) string { return "instance." + instance }

// FieldVersion is the version of a golden path, for all of its instances: a Program
// pins each golden path once.
func FieldVersion(path string) string { return "version." + path }

// FieldInput is the value of an input.
func FieldInput(instance, input string) string { return "input." + instance + "." + input }

// FieldWire is the output that an input is wired to.
func FieldWire(instance, input string) string { return "wire." + instance + "." + input }

// FieldEach is the value of an input in one environment.
func FieldEach(instance, input, environment string) string {
	return "each." + instance + "." + input + "." + environment
}

// FieldSecret is a secret value as it is typed.
func FieldSecret(instance, input, environment string) string {
	return "secret." + instance + "." + input + "." + environment
}

// FieldSealed is a secret value that was typed before.
func FieldSealed(instance, input, environment string) string {
	return "sealed." + instance + "." + input + "." + environment
}

// FieldRef is the Secret that a secret value is taken from.
func FieldRef(instance, input, environment string) string {
	return "ref." + instance + "." + input + "." + environment
}

// New is an empty form.
func New(w World) Form {
	f := Form{Draft: rand.Text()}
	for _, environment := range w.Stages() {
		f.Environments = append(f.Environments, environment.Name)
	}
	if len(w.Teams) == 1 {
		f.Namespace = w.Teams[0]
	}
	return f
}

// Version is the version of a golden path that the form uses.
func (f *Form) Version(w World, path string) *v1alpha1.GoldenPathVersion {
	if pinned := f.Rest.Versions[path]; pinned != "" {
		return w.Catalogue.Version(path, pinned)
	}
	if versions := w.Catalogue.Versions(path); len(versions) > 0 {
		return w.Catalogue.Version(path, versions[0])
	}
	return nil
}

func (f *Form) instance(name string) *Instance {
	for i := range f.Instances {
		if f.Instances[i].Name == name {
			return &f.Instances[i]
		}
	}
	return nil
}

// Chosen reports whether the form is for an environment.
func (f *Form) Chosen(environment string) bool { return slices.Contains(f.Environments, environment) }

// Exported reports whether the service shows an output.
func (i Instance) Exported(output string) bool { return slices.Contains(i.Exports, output) }

var label = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`)

// Add adds the instance that AddPath and AddName describe, with the given inputs.
func (f *Form) Add(w World, inputs map[string]apiextensionsv1.JSON) []Problem {
	if f.AddPath == "" {
		return []Problem{{FieldAddPath, "Choose the golden path to add."}}
	}
	version := f.Version(w, f.AddPath)
	if version == nil {
		return []Problem{{FieldAddPath, "There is no such golden path to use."}}
	}
	name := f.AddName
	if name == "" {
		name = f.freeName()
	}
	switch {
	case !label.MatchString(name):
		return []Problem{{FieldAddName, "Use at most 40 small letters, digits and -, beginning with a letter. Objects in the cluster are named after it."}}
	case f.taken(name):
		return []Problem{{FieldAddName, "There is something named " + name + " already; every name is used once."}}
	}
	instance := Instance{Name: name, Path: f.AddPath, Inputs: map[string]Input{}}
	for _, input := range version.Spec.Inputs {
		if value, ok := inputs[input.Name]; ok && !input.Secret {
			if text, ok := textOf(input, value); ok {
				instance.Inputs[input.Name] = Input{Text: text}
			}
		}
	}
	// One output tells most: the first is what the golden path's authors put first.
	for _, output := range version.Spec.Outputs {
		if !output.Secret {
			instance.Exports = []string{output.Name}
			break
		}
	}
	if f.Rest.Versions == nil {
		f.Rest.Versions = map[string]string{}
	}
	f.Rest.Versions[f.AddPath] = version.Spec.Version
	f.Instances = append(f.Instances, instance)
	f.AddPath, f.AddName = "", ""
	return nil
}

// freeName is a name for the next instance: the golden path's, after the service if
// that is well named already.
func (f *Form) freeName() string {
	base := f.AddPath
	if label.MatchString(f.Service) {
		base = f.Service + "-" + f.AddPath
	}
	base = strings.TrimRight(base[:min(len(base), 37)], "-")
	name := base
	for n := 2; f.taken(name); n++ {
		name = base + "-" + itoa(n)
	}
	return name
}

func (f *Form) taken(name string) bool {
	if f.instance(name) != nil {
		return true
	}
	spec := f.Rest.Program
	_, resource := spec.Resources[name]
	_, variable := spec.Variables[name]
	_, config := spec.Configuration[name]
	return resource || variable || config || name == "pulumi"
}

// Remove takes an instance out, and every wire to it.
func (f *Form) Remove(name string) {
	f.Instances = slices.DeleteFunc(f.Instances, func(i Instance) bool { return i.Name == name })
	delete(f.Rest.Extras, name)
	for _, instance := range f.Instances {
		for input, value := range instance.Inputs {
			if from, _, _ := strings.Cut(value.Wire, "."); from == name {
				value.Wire = ""
				instance.Inputs[input] = value
			}
		}
	}
}
