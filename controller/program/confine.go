package program

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
)

// A preview runs before anybody has looked at the Program, on the machine of the
// runner. What follows keeps a Program to describing Kubernetes objects and
// golden path instances: it can read no file, call no function of a provider,
// bring no credentials of its own and read no other stack.

// functions are the built-in functions that only compute.
var functions = []string{"fn::join", "fn::split", "fn::select", "fn::toJSON", "fn::toBase64", "fn::fromBase64", "fn::secret"}

// readers are the modules of the Kubernetes provider that read files or fetch
// from the network while they preview.
var readers = []string{"helm.sh", "helm", "yaml", "kustomize"}

func (v *validator) confine() {
	for _, name := range slices.Sorted(maps.Keys(v.spec.Resources)) {
		path, resource := "resources."+name, v.spec.Resources[name]
		v.confineType(path+".type", resource.Type)
		v.confineValue(path+".properties", literals(resource.Properties))
		v.confineOptions(path+".options", resource.Options)
		if resource.Get != nil {
			v.confineValue(path+".get.state", literals(resource.Get.State))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.spec.Configuration)) {
		// The engine evaluates a default as it does any other value.
		if value := v.spec.Configuration[name].Default; value != nil {
			v.confineValue("configuration."+name+".default", literal(*value))
		}
	}
	v.confineValue("variables", literals(v.spec.Variables))
	v.confineValue("outputs", literals(v.spec.Outputs))
}

func literals(values map[string]apiextensionsv1.JSON) map[string]any {
	all := make(map[string]any, len(values))
	for key, value := range values {
		all[key] = literal(value)
	}
	return all
}

func (v *validator) confineType(path, t string) {
	parts := strings.SplitN(t, ":", 3)
	switch {
	case len(parts) < 2:
	case parts[0] == "pulumi":
		v.add(path, "%s is not allowed: which cluster and which credentials are used, and what other stacks are read, is for the environment to say.", t)
	case parts[0] == "kubernetes":
		module, _, _ := strings.Cut(parts[1], "/")
		if slices.Contains(readers, module) {
			v.add(path, "%s is not allowed: it reads files or the network while it is previewed. Write the objects out, or ask the platform team for a golden path.", t)
		}
	}
}

func (v *validator) confineOptions(path string, options *pulumiv1.ResourceOptions) {
	if options == nil {
		return
	}
	if options.Provider != nil || len(options.Providers) > 0 {
		v.add(path, "A provider of its own is not allowed: which cluster and credentials are used is for the environment to say.")
	}
	if options.Import != "" {
		v.add(path+".import", "Import is not allowed in a change yet: ask the platform team to bring an existing object into the state.")
	}
	for i, dependency := range options.DependsOn {
		v.confineValue(path+".dependsOn["+itoa(i)+"]", literal(dependency))
	}
	if options.Parent != nil {
		v.confineValue(path+".parent", literal(*options.Parent))
	}
}

func (v *validator) confineValue(path string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			v.confineValue(path+"["+itoa(i)+"]", item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			// Keys are compared as Pulumi YAML does: without regard to case.
			isFunction := strings.HasPrefix(strings.ToLower(key), "fn::")
			allowed := slices.ContainsFunc(functions, func(f string) bool { return strings.EqualFold(f, key) })
			if isFunction && !allowed {
				v.add(path, "%s is not allowed in a Program; there is %s.", key, strings.Join(functions, ", "))
				continue
			}
			v.confineValue(path+"."+key, value[key])
		}
	}
}
