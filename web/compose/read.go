package compose

import (
	"crypto/rand"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// ReadService makes the form of a service as it is: its Program and the values of
// its Stacks.
func ReadService(w World, namespace, service string, spec pulumiv1.ProgramSpec) Form {
	f := Form{Draft: rand.Text(), Fixed: true, Base: program.Digest(spec), Namespace: namespace, Service: service}
	values := map[string]Values{}
	for _, stack := range w.Stacks {
		environment := stack.Labels[v1alpha1.EnvironmentLabel]
		values[environment] = stackValues(stack)
		if slices.ContainsFunc(w.Stages(), func(e v1alpha1.Environment) bool { return e.Name == environment }) {
			f.Environments = append(f.Environments, environment)
		}
	}
	if len(f.Environments) == 0 {
		f.Environments = New(w).Environments
	}
	f.read(w, spec, values)
	// What the Stacks have and no field shows stays with them.
	f.Rest.Values = nil
	return f
}

// ReadChange makes the form of what a change proposed, to propose it differently.
func ReadChange(w World, namespace string, proposed v1alpha1.ChangeRequestSpec, base string, fixed bool) Form {
	f := Form{
		Draft: rand.Text(), Fixed: fixed, Base: base, Namespace: namespace, Service: proposed.Service, Description: proposed.Description,
	}
	values := map[string]Values{}
	for _, stack := range w.Stacks {
		values[stack.Labels[v1alpha1.EnvironmentLabel]] = stackValues(stack)
	}
	own := map[string]Values{}
	for _, environment := range proposed.Environments {
		name := string(environment.Name)
		f.Environments = append(f.Environments, name)
		own[name] = Values{Config: environment.Config, SecretsRef: environment.SecretsRef}
		values[name] = values[name].under(own[name])
	}
	f.read(w, proposed.Program, values)
	// Only what the change itself proposed is carried on.
	for name := range f.Rest.Values {
		rest := f.Rest.Values[name]
		maps.DeleteFunc(rest.Config, func(key string, _ apiextensionsv1.JSON) bool { _, ok := own[name].Config[key]; return !ok })
		maps.DeleteFunc(rest.SecretsRef, func(key string, _ v1alpha1.SecretKeyRef) bool { _, ok := own[name].SecretsRef[key]; return !ok })
	}
	return f
}

func stackValues(stack *pulumiv1.Stack) Values {
	values := Values{Config: maps.Clone(stack.Spec.Config)}
	for key, ref := range stack.Spec.SecretsRef {
		if ref.Secret != nil {
			values.SecretsRef = set(values.SecretsRef, key, v1alpha1.SecretKeyRef{Name: ref.Secret.Name, Key: ref.Secret.Key})
		}
	}
	return values
}

// under lays other values over these: a key is plain or secret, not both.
func (v Values) under(other Values) Values {
	v = Values{Config: maps.Clone(v.Config), SecretsRef: maps.Clone(v.SecretsRef)}
	for key, value := range other.Config {
		v.Config = set(v.Config, key, value)
		delete(v.SecretsRef, key)
	}
	for key, ref := range other.SecretsRef {
		v.SecretsRef = set(v.SecretsRef, key, ref)
		delete(v.Config, key)
	}
	return v
}

// read takes from a Program what fields can show, and keeps the rest.
func (f *Form) read(w World, spec pulumiv1.ProgramSpec, values map[string]Values) {
	r := reader{form: f, world: w, rest: *spec.DeepCopy(), values: values, uses: uses(spec)}
	f.Rest.Versions = map[string]string{}
	for path, pin := range spec.Packages {
		if name, version, _ := strings.Cut(pin, "@"); name == path {
			f.Rest.Versions[path] = version
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Resources)) {
		r.resource(name, spec.Resources[name])
	}
	r.outputs()
	for _, instance := range f.Instances {
		delete(r.rest.Packages, instance.Path)
	}
	f.Rest.Program = r.rest
	f.Rest.Values = r.values
}

type reader struct {
	form  *Form
	world World
	// rest and values lose what fields show.
	rest   pulumiv1.ProgramSpec
	values map[string]Values
	// uses counts how often each name is referred to.
	uses map[string]int
}

func uses(spec pulumiv1.ProgramSpec) map[string]int {
	counts := map[string]int{}
	for _, match := range expression.FindAllSubmatch(encode(spec).Raw, -1) {
		counts[string(match[1])]++
	}
	return counts
}

func (r *reader) resource(name string, resource pulumiv1.Resource) {
	path, _, _ := strings.Cut(resource.Type, ":")
	version := r.world.Catalogue.Version(path, r.form.Rest.Versions[path])
	if version == nil || resource.Type != version.Spec.Token || resource.Get != nil || !label.MatchString(name) {
		return
	}
	instance := Instance{Name: name, Path: path, Inputs: map[string]Input{}}
	extra := Extra{Properties: maps.Clone(resource.Properties), Options: resource.Options}
	for _, input := range version.Spec.Inputs {
		value, ok := resource.Properties[input.Name]
		if !ok {
			continue
		}
		if shown, ok := r.input(name, input, value); ok {
			instance.Inputs[input.Name] = shown
			delete(extra.Properties, input.Name)
		}
	}
	if len(extra.Properties) > 0 || extra.Options != nil {
		r.form.Rest.Extras = set(r.form.Rest.Extras, name, extra)
	}
	delete(r.rest.Resources, name)
	r.form.Instances = append(r.form.Instances, instance)
}

// input is what a field shows of a value, and whether it can.
func (r *reader) input(instance string, input v1alpha1.GoldenPathInput, value apiextensionsv1.JSON) (Input, bool) {
	inner, whole := wholeExpression(value)
	if !whole {
		text, ok := textOf(input, value)
		return Input{Text: text}, ok && !input.Secret
	}
	from, output, isOutput := strings.Cut(inner, ".")
	if isOutput {
		if source := r.version(from); source != nil && slices.ContainsFunc(source.Spec.Outputs, func(o v1alpha1.GoldenPathOutput) bool { return o.Name == output }) {
			return Input{Wire: inner}, true
		}
	}
	if shown, ok := r.config(instance, input, inner); ok {
		return shown, true
	}
	text, ok := textOf(input, value)
	return Input{Text: text}, ok && !input.Secret
}

// version is the golden path version of a resource of the Program.
func (r *reader) version(name string) *v1alpha1.GoldenPathVersion {
	if instance := r.form.instance(name); instance != nil {
		return r.form.Version(r.world, instance.Path)
	}
	path, _, _ := strings.Cut(r.rest.Resources[name].Type, ":")
	version := r.world.Catalogue.Version(path, r.form.Rest.Versions[path])
	if version == nil || version.Spec.Token != r.rest.Resources[name].Type {
		return nil
	}
	return version
}

// config shows a config value at the input that it is for. A value that more than
// one place uses is nobody's.
func (r *reader) config(instance string, input v1alpha1.GoldenPathInput, key string) (Input, bool) {
	declaration, ok := r.rest.Configuration[key]
	if !ok || r.uses[key] != 1 {
		return Input{}, false
	}
	shown, ok := r.plainConfig(input, key, declaration)
	if input.Secret {
		shown, ok = r.secretConfig(key), declaration.Type == "String" && declaration.Default == nil
	}
	if !ok {
		return Input{}, false
	}
	r.form.Rest.Keys = set(r.form.Rest.Keys, instance+"."+input.Name, key)
	delete(r.rest.Configuration, key)
	for _, values := range r.values {
		delete(values.Config, key)
		delete(values.SecretsRef, key)
	}
	return shown, true
}

// secretConfig are the Secrets that environments take a value from.
func (r *reader) secretConfig(key string) Input {
	var shown Input
	for environment, values := range r.values {
		if ref, ok := values.SecretsRef[key]; ok {
			shown.Secrets = set(shown.Secrets, environment, Secret{Ref: ref.Name + "/" + ref.Key})
		}
	}
	return shown
}

// plainConfig are a config value's default and what environments have of their
// own, and whether fields can show them.
func (r *reader) plainConfig(input v1alpha1.GoldenPathInput, key string, declaration pulumiv1.Configuration) (shown Input, ok bool) {
	if kind, has := configType(input); !has || declaration.Type != kind {
		return shown, false
	}
	if declaration.Default != nil {
		if shown.Text, ok = textOf(input, *declaration.Default); !ok {
			return shown, false
		}
	}
	for environment, values := range r.values {
		value, has := values.Config[key]
		if !has || declaration.Default != nil && equal(value, *declaration.Default) {
			continue
		}
		text, ok := textOf(input, value)
		if !ok {
			return shown, false
		}
		shown.Each = set(shown.Each, environment, text)
	}
	return shown, true
}

// outputs takes the outputs of the Program that are outputs of instances.
func (r *reader) outputs() {
	for _, name := range slices.Sorted(maps.Keys(r.rest.Outputs)) {
		inner, whole := wholeExpression(r.rest.Outputs[name])
		from, output, _ := strings.Cut(inner, ".")
		instance := r.form.instance(from)
		if !whole || instance == nil || instance.Exported(output) {
			continue
		}
		version := r.form.Version(r.world, instance.Path)
		if !slices.ContainsFunc(version.Spec.Outputs, func(o v1alpha1.GoldenPathOutput) bool { return o.Name == output }) {
			continue
		}
		instance.Exports = append(instance.Exports, output)
		r.form.Rest.Names = set(r.form.Rest.Names, inner, name)
		delete(r.rest.Outputs, name)
	}
}

// wholeExpression is the inside of a value that is nothing but one expression.
func wholeExpression(value apiextensionsv1.JSON) (string, bool) {
	text := scalarText(value.Raw)
	inner, ok := strings.CutPrefix(text, "${")
	if !ok || !strings.HasSuffix(inner, "}") {
		return "", false
	}
	inner = strings.TrimSuffix(inner, "}")
	return inner, !strings.ContainsAny(inner, "${}[] ")
}
