package change

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// stackFor returns the Stack of this service in an environment, nil when it has
// none yet, and its name. Stacks are found by what they are, not by their name:
// they may have come by another door.
func (w *world) stackFor(environment string) (*pulumiv1.Stack, string) {
	for _, name := range slices.Sorted(maps.Keys(w.stacks)) { // always the same one of several
		stack := w.stacks[name]
		ref := stack.Spec.ProgramRef
		if ref != nil && ref.Name == w.cr.Spec.Service && EnvironmentOf(stack) == environment && stack.DeletionTimestamp == nil {
			return stack, stack.Name
		}
	}
	return nil, w.cr.Spec.Service + "-" + environment
}

// EnvironmentOf is the environment of a Stack.
func EnvironmentOf(stack *pulumiv1.Stack) string {
	if name := stack.Labels[v1alpha1.EnvironmentLabel]; name != "" {
		return name
	}
	return v1alpha1.DefaultEnvironment
}

// desired is the Stack as the change wants it: the one there is, or a new one
// from the environment's template, with the change's values laid over it.
func (w *world) desired(environment v1alpha1.Environment) pulumiv1.StackSpec {
	existing, _ := w.stackFor(environment.Name)
	var spec pulumiv1.StackSpec
	if existing != nil {
		spec = *existing.Spec.DeepCopy()
		impose(&spec, w.fromTemplate(environment))
	} else {
		spec = w.fromTemplate(environment)
	}
	spec.ProgramRef = &pulumiv1.ProgramReference{Name: w.cr.Spec.Service}
	proposal := w.proposal(environment.Name)
	if len(proposal.Config) > 0 && spec.Config == nil {
		spec.Config = map[string]apiextensionsv1.JSON{}
	}
	for key, value := range proposal.Config {
		spec.Config[key] = value
		delete(spec.SecretsRef, key)
		delete(spec.ConfigRef, key)
	}
	if len(proposal.SecretsRef) > 0 && spec.SecretsRef == nil {
		spec.SecretsRef = map[string]pulumiv1.ResourceRef{}
	}
	for key, ref := range proposal.SecretsRef {
		spec.SecretsRef[key] = pulumiv1.ResourceRef{Type: pulumiv1.RefSecret, Secret: &pulumiv1.SecretSelector{Name: ref.Name, Key: ref.Key}}
		delete(spec.Config, key)
		delete(spec.ConfigRef, key)
	}
	return spec
}

// impose lays over a Stack what its environment decides: with whose rights it is
// applied, where to, and from where its credentials come.
func impose(spec *pulumiv1.StackSpec, template pulumiv1.StackSpec) {
	if template.ServiceAccountName != "" {
		spec.ServiceAccountName = template.ServiceAccountName
	}
	for key, value := range template.Config {
		if spec.Config == nil {
			spec.Config = map[string]apiextensionsv1.JSON{}
		}
		spec.Config[key] = value
		delete(spec.ConfigRef, key)
		delete(spec.SecretsRef, key)
		delete(spec.Secrets, key)
	}
	for key, ref := range template.EnvRefs {
		if spec.EnvRefs == nil {
			spec.EnvRefs = map[string]pulumiv1.ResourceRef{}
		}
		spec.EnvRefs[key] = ref
	}
}

func (w *world) fromTemplate(environment v1alpha1.Environment) pulumiv1.StackSpec {
	template := environment.Spec.StackTemplate
	fill := w.filler(environment.Name)
	spec := pulumiv1.StackSpec{
		Stack:              fill(template.Stack),
		Backend:            fill(template.Backend),
		SecretsProvider:    fill(template.SecretsProvider),
		ServiceAccountName: fill(template.ServiceAccountName),
	}
	for key, value := range template.Config {
		if spec.Config == nil {
			spec.Config = map[string]apiextensionsv1.JSON{}
		}
		spec.Config[key] = apiextensionsv1.JSON{Raw: []byte(fill(string(value.Raw)))}
	}
	if len(template.EnvRefs) > 0 {
		spec.EnvRefs = maps.Clone(template.EnvRefs)
	}
	for _, first := range environment.Spec.After {
		if w.change(string(first)) == nil {
			continue
		}
		_, name := w.stackFor(string(first))
		ref := pulumiv1.PrerequisiteRef{Name: name}
		if environment.Spec.Freshness != nil {
			ref.Requirement = &pulumiv1.RequirementSpec{SucceededWithinDuration: environment.Spec.Freshness}
		}
		spec.Prerequisites = append(spec.Prerequisites, ref)
	}
	return spec
}

// filler replaces the template's variables. Their values are DNS labels, so they
// are safe inside JSON text too.
func (w *world) filler(environment string) func(string) string {
	return strings.NewReplacer(
		"${namespace}", w.cr.Namespace,
		"${service}", w.cr.Spec.Service,
		"${environment}", environment,
	).Replace
}

// inputs are the digests of what the controller knows to go into a plan.
func (w *world) inputs(spec pulumiv1.StackSpec) map[string]string {
	rest := *spec.DeepCopy()
	// An empty map is none: the API server does not store it.
	config := struct {
		Config     map[string]apiextensionsv1.JSON  `json:",omitempty"`
		ConfigRef  map[string]pulumiv1.ConfigMapRef `json:",omitempty"`
		SecretsRef map[string]pulumiv1.ResourceRef  `json:",omitempty"`
		Secrets    map[string]string                `json:",omitempty"`
	}{rest.Config, rest.ConfigRef, rest.SecretsRef, rest.Secrets}
	rest.Config, rest.ConfigRef, rest.SecretsRef, rest.Secrets = nil, nil, nil, nil
	return map[string]string{
		"program":     program.Digest(w.cr.Spec.Program),
		"goldenPaths": program.DigestOf(w.cr.Status.GoldenPaths),
		"stack":       program.DigestOf(rest),
		"config":      program.DigestOf(config),
	}
}

// key identifies the Pulumi stack that a Stack points at: Runs with the same key
// exclude each other.
func key(spec pulumiv1.StackSpec) string {
	return strings.TrimPrefix(program.DigestOf([]string{spec.Backend, spec.Stack}), "sha256:")[:32]
}
