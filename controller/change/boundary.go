package change

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// freeConfig is config of the Kubernetes provider that says neither which cluster
// nor which namespace is meant, nor with whose rights.
var freeConfig = []string{
	"kubernetes:enableConfigMapMutable", "kubernetes:enableSecretMutable", "kubernetes:kubeClientSettings",
}

// freeVariables are environment variables that a Stack may set beside those of
// the template: credentials of its state backend, and nothing that makes a
// program load or reach something else.
var freeVariables = []string{
	"PULUMI_CONFIG_PASSPHRASE", "PULUMI_ACCESS_TOKEN",
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
	"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
}

// boundary returns how a Stack reaches over its environment's border. A Stack can
// be written by whoever may write Stacks in the namespace, and its preview runs
// before anybody has looked; so what decides about cluster, namespace, identity
// and state is the environment's to say. What can be laid over a Stack is (see
// desired); to move a state, or to drop what somebody asked for, is not done
// silently.
func (w *world) boundary(environment v1alpha1.Environment, spec pulumiv1.StackSpec) []v1alpha1.Problem {
	_, name := w.stackFor(environment.Name)
	template := w.fromTemplate(environment)
	var messages []string
	messages = append(messages, moved(environment.Name, name, spec, template)...)
	messages = append(messages, foreignConfig(name, spec, template)...)
	messages = append(messages, foreignVariables(name, spec, template)...)
	problems := make([]v1alpha1.Problem, 0, len(messages))
	for _, message := range messages {
		problems = append(problems, v1alpha1.Problem{Path: "environments." + environment.Name, Message: message})
	}
	return problems
}

// moved says where a Stack's state is elsewhere than its environment says.
func moved(environment, name string, spec, template pulumiv1.StackSpec) []string {
	var messages []string
	for _, field := range []struct{ name, is, should string }{
		{"backend", spec.Backend, template.Backend},
		{"stack", spec.Stack, template.Stack},
		{"secretsProvider", spec.SecretsProvider, template.SecretsProvider},
	} {
		if field.should != "" && field.is != field.should {
			messages = append(messages, fmt.Sprintf("Stack %s has %s %q; in %s it is %q. Set it back.", name, field.name, field.is, environment, field.should))
		}
	}
	if template.Backend == "" && !strings.Contains(strings.TrimPrefix(spec.Backend, "file://"), "://") {
		messages = append(messages, fmt.Sprintf("Stack %s keeps its state in %q, a folder of the machine that runs it; only an environment may say that. Use a bucket.", name, spec.Backend))
	}
	return messages
}

// foreignConfig names config of a Stack that is for its environment to say.
func foreignConfig(name string, spec, template pulumiv1.StackSpec) []string {
	var messages []string
	for _, key := range configKeys(spec) {
		_, given := template.Config[key]
		if strings.Contains(key, ":") && !given && !slices.Contains(freeConfig, key) {
			messages = append(messages, fmt.Sprintf("Stack %s sets config %s, which is for the environment to say. Remove it.", name, key))
		}
	}
	credentials := map[string]string{} // Secrets of the engine, and for which variable
	for variable, ref := range spec.EnvRefs {
		if ref.Secret != nil {
			credentials[ref.Secret.Name] = variable
		}
	}
	for _, key := range slices.Sorted(maps.Keys(spec.SecretsRef)) {
		if ref := spec.SecretsRef[key].Secret; ref != nil && credentials[ref.Name] != "" {
			messages = append(messages, fmt.Sprintf("Stack %s takes config %s from Secret %s, which holds the engine's %s. Use another Secret.", name, key, ref.Name, credentials[ref.Name]))
		}
	}
	return messages
}

// foreignVariables names environment variables that a Stack may not set.
func foreignVariables(name string, spec, template pulumiv1.StackSpec) []string {
	var messages []string
	for _, key := range slices.Sorted(maps.Keys(spec.EnvRefs)) {
		if _, given := template.EnvRefs[key]; !given && !slices.Contains(freeVariables, key) {
			messages = append(messages, fmt.Sprintf("Stack %s sets the variable %s, which is not allowed. Remove it; allowed are %s.", name, key, strings.Join(freeVariables, ", ")))
		}
	}
	return messages
}

// configKeys are the keys of all config, plain and secret.
func configKeys(spec pulumiv1.StackSpec) []string {
	keys := slices.Sorted(maps.Keys(spec.Config))
	keys = append(keys, slices.Sorted(maps.Keys(spec.ConfigRef))...)
	keys = append(keys, slices.Sorted(maps.Keys(spec.SecretsRef))...)
	keys = append(keys, slices.Sorted(maps.Keys(spec.Secrets))...)
	return keys
}

// unsupported names what a Stack asks for that this release does not do; to
// ignore it would do something else than what was asked.
func unsupported(spec pulumiv1.StackSpec) []string {
	var fields []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"projectRepo", spec.ProjectRepo != ""},
		{"fluxSource", spec.FluxSource != nil},
		{"preview", spec.Preview},
		{"refresh", spec.Refresh},
		{"targets", len(spec.Targets) > 0},
		{"workspaceTemplate", spec.WorkspaceTemplate != nil},
		{"updateTemplate", spec.UpdateTemplate != nil},
		{"environment", len(spec.Environment) > 0},
		{"envs", len(spec.Envs) > 0},
		{"envSecrets", len(spec.SecretEnvs) > 0},
		{"accessTokenSecret", spec.AccessTokenSecret != ""},
		{"useLocalStackOnly", spec.UseLocalStackOnly},
	} {
		if field.set {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// fault is why a Stack cannot be previewed or applied as it stands, "" if it can.
func (s *stackWork) fault() string {
	var messages []string
	for _, problem := range s.boundary(s.environment, s.desired) {
		messages = append(messages, problem.Message)
	}
	if fields := unsupported(s.desired); len(fields) > 0 {
		messages = append(messages, fmt.Sprintf("Stack %s uses %s, which this release does not support.", s.change.Stack, strings.Join(fields, ", ")))
	}
	return strings.Join(messages, " ")
}
