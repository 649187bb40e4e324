package compose

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Proposal is what a form makes.
type Proposal struct {
	Spec v1alpha1.ChangeRequestSpec
	// Secrets hold the values that were typed. They must exist before the change.
	Secrets []corev1.Secret
}

// secretKey is the key of a secret value in the Secrets made here.
const secretKey = "value"

// Build makes the proposal.
func (f *Form) Build(w World) Proposal {
	b := builder{form: f, world: w, values: map[string]Values{}, keys: maps.Clone(f.Rest.Keys)}
	b.spec = *f.Rest.Program.DeepCopy()
	b.spec.Packages = set(b.spec.Packages, "", "")
	delete(b.spec.Packages, "")
	b.spec.Resources = set(b.spec.Resources, "", pulumiv1.Resource{})
	delete(b.spec.Resources, "")
	for environment, values := range f.Rest.Values {
		b.values[environment] = Values{Config: maps.Clone(values.Config), SecretsRef: maps.Clone(values.SecretsRef)}
	}
	for i := range f.Instances {
		b.instance(&f.Instances[i])
	}
	proposal := Proposal{
		Spec:    v1alpha1.ChangeRequestSpec{Service: f.Service, Description: f.Description, Program: b.spec},
		Secrets: b.secrets,
	}
	for _, environment := range w.Stages() {
		if !f.Chosen(environment.Name) {
			continue
		}
		values := b.values[environment.Name]
		proposal.Spec.Environments = append(proposal.Spec.Environments, v1alpha1.EnvironmentProposal{
			Name: v1alpha1.EnvironmentName(environment.Name), Config: values.Config, SecretsRef: values.SecretsRef,
		})
	}
	return proposal
}

type builder struct {
	form    *Form
	world   World
	spec    pulumiv1.ProgramSpec
	values  map[string]Values
	secrets []corev1.Secret
	// keys are the config keys in use, by instance.input.
	keys map[string]string
}

func (b *builder) instance(instance *Instance) {
	version := b.form.Version(b.world, instance.Path)
	if version == nil {
		// Validation says that the golden path is gone; what was there is kept out.
		b.spec.Packages[instance.Path] = instance.Path + "@" + b.form.Rest.Versions[instance.Path]
		b.spec.Resources[instance.Name] = pulumiv1.Resource{Type: instance.Path + ":index:"}
		return
	}
	b.spec.Packages[instance.Path] = instance.Path + "@" + version.Spec.Version
	extra := b.form.Rest.Extras[instance.Name]
	properties := maps.Clone(extra.Properties)
	for _, input := range version.Spec.Inputs {
		if value, ok := b.input(instance, input, instance.Inputs[input.Name]); ok {
			properties = set(properties, input.Name, value)
		}
	}
	b.spec.Resources[instance.Name] = pulumiv1.Resource{Type: version.Spec.Token, Properties: properties, Options: extra.Options}
	for _, output := range instance.Exports {
		from := instance.Name + "." + output
		name := b.form.Rest.Names[from]
		if name == "" {
			name = instance.Name + "-" + output
		}
		b.spec.Outputs = set(b.spec.Outputs, name, encode("${"+from+"}"))
	}
}

// input is the value of an input in the Program, and whether it has one.
func (b *builder) input(instance *Instance, input v1alpha1.GoldenPathInput, filled Input) (apiextensionsv1.JSON, bool) {
	place := instance.Name + "." + input.Name
	switch {
	case filled.Wire != "":
		return encode("${" + filled.Wire + "}"), true
	case input.Secret:
		return b.secret(place, input, filled)
	case PerEnvironment(input) && (len(filled.Each) > 0 || b.form.Rest.Keys[place] != ""):
		return b.perEnvironment(place, input, filled), true
	case filled.Text != "":
		return valueOf(input, filled.Text), true
	}
	return apiextensionsv1.JSON{}, false
}

// perEnvironment puts a value into config: what holds everywhere as its default,
// what an environment has of its own as that environment's value.
func (b *builder) perEnvironment(place string, input v1alpha1.GoldenPathInput, filled Input) apiextensionsv1.JSON {
	key := b.key(place)
	kind, _ := configType(input)
	declaration := pulumiv1.Configuration{Type: kind}
	if filled.Text != "" {
		value := valueOf(input, filled.Text)
		declaration.Default = &value
	} else if input.Default != nil {
		declaration.Default = input.Default.DeepCopy()
	}
	b.spec.Configuration = set(b.spec.Configuration, key, declaration)
	for _, environment := range b.world.Stages() {
		text, own := filled.Each[environment.Name]
		switch {
		case own:
			b.setConfig(environment.Name, key, valueOf(input, text))
		case declaration.Default != nil && b.hasConfig(environment.Name, key):
			// The Stack keeps what it is not told to change.
			b.setConfig(environment.Name, key, *declaration.Default)
		}
	}
	return encode("${" + key + "}")
}

func (b *builder) setConfig(environment, key string, value apiextensionsv1.JSON) {
	values := b.values[environment]
	values.Config = set(values.Config, key, value)
	b.values[environment] = values
}

// hasConfig reports whether the Stack of an environment has a value of its own.
func (b *builder) hasConfig(environment, key string) bool {
	for _, stack := range b.world.Stacks {
		if stack.Labels[v1alpha1.EnvironmentLabel] == environment {
			_, ok := stack.Spec.Config[key]
			return ok
		}
	}
	return false
}

// secret puts a secret value into secret config. A value that was typed becomes a
// Secret of its own: Secrets are written, never changed.
func (b *builder) secret(place string, input v1alpha1.GoldenPathInput, filled Input) (apiextensionsv1.JSON, bool) {
	if len(filled.Secrets) == 0 && !input.Required && b.form.Rest.Keys[place] == "" {
		return apiextensionsv1.JSON{}, false
	}
	key := b.key(place)
	b.spec.Configuration = set(b.spec.Configuration, key, pulumiv1.Configuration{Type: "String"})
	for _, environment := range b.world.Stages() {
		secret, ok := filled.Secrets[environment.Name]
		if !ok || !b.form.Chosen(environment.Name) {
			continue
		}
		ref := v1alpha1.SecretKeyRef{}
		if secret.Value != "" {
			ref = v1alpha1.SecretKeyRef{Name: b.secretName(environment.Name, key, secret.Value), Key: secretKey}
			b.secrets = append(b.secrets, b.newSecret(environment.Name, ref.Name, secret.Value))
		} else {
			ref.Name, ref.Key, _ = strings.Cut(secret.Ref, "/")
		}
		values := b.values[environment.Name]
		values.SecretsRef = set(values.SecretsRef, key, ref)
		b.values[environment.Name] = values
	}
	return encode("${" + key + "}"), true
}

// secretName depends on the value, so that another value is another Secret, and on
// the draft, so that the name tells nothing of the value.
func (b *builder) secretName(environment, key, value string) string {
	mac := hmac.New(sha256.New, []byte(b.form.Draft))
	fmt.Fprintf(mac, "%q %q %q %q %q", b.form.Namespace, b.form.Service, environment, key, value)
	return b.form.Service + "-" + environment + "-" + hex.EncodeToString(mac.Sum(nil))[:16]
}

func (b *builder) newSecret(environment, name, value string) corev1.Secret {
	immutable := true
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.form.Namespace, Name: name,
			Labels: map[string]string{v1alpha1.ServiceLabel: b.form.Service, v1alpha1.EnvironmentLabel: environment},
		},
		Immutable: &immutable, Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{secretKey: []byte(value)},
	}
}

// key is the config key that holds an input: the one it has, or a new one in camel
// case.
func (b *builder) key(place string) string {
	if key := b.keys[place]; key != "" {
		return key
	}
	var base strings.Builder
	for i, word := range strings.FieldsFunc(place, func(r rune) bool { return r == '-' || r == '.' }) {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		base.WriteString(word)
	}
	key := base.String()
	for n := 2; b.taken(key); n++ {
		key = base.String() + itoa(n)
	}
	b.keys = set(b.keys, place, key)
	return key
}

func (b *builder) taken(key string) bool {
	_, config := b.spec.Configuration[key]
	return config || b.form.taken(key) || slices.Contains(slices.Collect(maps.Values(b.keys)), key)
}
