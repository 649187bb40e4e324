package program

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

// logicalName is what Pulumi YAML accepts as the name of a resource, variable or
// config key that an expression can reach.
var logicalName = regexp.MustCompile(`^[A-Za-z_][-A-Za-z0-9_]*$`)

// enginePackages need no golden path: the provider that every Towpath runner
// carries and the engine's own types.
var enginePackages = map[string]bool{"kubernetes": true, "pulumi": true}

// Validate returns everything that is wrong with a Program, in the order of its
// places. It is the same for every door: the command line asks before it sends,
// the controller before it previews.
func Validate(spec pulumiv1.ProgramSpec, catalogue Catalogue) []v1alpha1.Problem {
	if text, err := json.Marshal(spec); err != nil || len(text) > MaxSize {
		return []v1alpha1.Problem{{Path: "program", Message: fmt.Sprintf("The Program has %s; at most %s fit. Split it into several services.", mebibytes(len(text)), mebibytes(MaxSize))}}
	}
	v := validator{spec: spec, catalogue: catalogue, instances: instances(spec, catalogue)}
	if len(spec.Resources) == 0 {
		v.add("resources", "The Program has no resources: add at least one golden path instance.")
	}
	v.names()
	v.confine()
	v.packages()
	v.types()
	v.inputs()
	v.wires()
	if loop := cycle(graph(spec)); loop != nil {
		v.add("resources."+loop[0], "These refer to each other in a circle: %s. Break it at one place.", strings.Join(loop, " → "))
	}
	sort.SliceStable(v.problems, func(i, j int) bool { return v.problems[i].Path < v.problems[j].Path })
	return v.problems
}

type validator struct {
	spec      pulumiv1.ProgramSpec
	catalogue Catalogue
	instances map[string]*v1alpha1.GoldenPathVersion
	problems  []v1alpha1.Problem
}

func (v *validator) add(path, format string, args ...any) {
	v.problems = append(v.problems, v1alpha1.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) names() {
	seen := map[string]string{}
	for _, group := range []struct {
		path string
		keys []string
	}{
		{"configuration", slices.Sorted(maps.Keys(v.spec.Configuration))},
		{"resources", slices.Sorted(maps.Keys(v.spec.Resources))},
		{"variables", slices.Sorted(maps.Keys(v.spec.Variables))},
	} {
		for _, name := range group.keys {
			path := group.path + "." + name
			switch {
			case !logicalName.MatchString(name) && (group.path != "configuration" || !strings.Contains(name, ":")):
				v.add(path, "%q is no usable name: begin with a letter and use letters, digits, - and _.", name)
			case name == "pulumi":
				v.add(path, "The name pulumi is taken by the engine; choose another.")
			case seen[name] != "":
				v.add(path, "%q is also the name of %s; every name is used once.", name, seen[name])
			}
			seen[name] = path
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.spec.Resources)) {
		path, _, _ := strings.Cut(v.spec.Resources[name].Type, ":")
		if enginePackages[path] || !logicalName.MatchString(name) {
			continue
		}
		// Objects in the cluster are named after the instance.
		if !dnsLabel(name) {
			v.add("resources."+name, "%q is no DNS label: use at most 40 lower-case letters, digits and -, beginning with a letter. Objects in the cluster are named after it.", name)
		}
	}
}

func dnsLabel(name string) bool {
	return len(name) <= 40 && len(validation.IsDNS1035Label(name)) == 0
}

func (v *validator) packages() {
	for _, name := range slices.Sorted(maps.Keys(v.spec.Packages)) {
		path, value := "packages."+name, v.spec.Packages[name]
		parts := pin.FindStringSubmatch(value)
		if parts == nil || parts[1] != name {
			v.add(path, "Write %s@<version>, as in %s@1.0.0; it is %q.", name, name, value)
			continue
		}
		if v.unknownGoldenPath(path, name) {
			continue
		}
		version := v.catalogue.Version(name, parts[2])
		switch {
		case version == nil:
			v.add(path, "Golden path %s has no version %s; there is %s.", name, parts[2], strings.Join(v.catalogue.Versions(name), ", "))
		case version.Spec.Stage == v1alpha1.StageDraft:
			v.add(path, "%s %s is a draft that its owners have not published yet; there is %s.", name, parts[2], strings.Join(v.catalogue.Versions(name), ", "))
		case version.Spec.Stage == v1alpha1.StageRetired:
			v.add(path, "%s %s is retired: no new change may use it; there is %s.", name, parts[2], strings.Join(v.catalogue.Versions(name), ", "))
		}
	}
}

func (v *validator) unknownGoldenPath(path, name string) bool {
	if len(v.catalogue.Versions(name)) > 0 {
		return false
	}
	v.add(path, "There is no golden path %q; the catalogue has %s.", name, orNothing(v.catalogue.GoldenPaths()))
	return true
}

func (v *validator) types() {
	for _, name := range slices.Sorted(maps.Keys(v.spec.Resources)) {
		path, t := "resources."+name+".type", v.spec.Resources[name].Type
		packageName, _, found := strings.Cut(t, ":")
		switch {
		case !found:
			v.add(path, "%q is no type: write <golden path>:index:<Component>, as in web-service:index:WebService.", t)
		case enginePackages[packageName] || v.instances[name] != nil:
		case v.spec.Packages[packageName] == "":
			if !v.unknownGoldenPath(path, packageName) {
				v.add(path, "Pin the version of %s: add %q to packages.", packageName, packageName+": "+packageName+"@"+v.catalogue.Versions(packageName)[0])
			}
		default:
			parts := pin.FindStringSubmatch(v.spec.Packages[packageName])
			if parts == nil {
				continue // said at the package
			}
			if version := v.catalogue.Version(packageName, parts[2]); version != nil {
				v.add(path, "%s has no component %q; write %s.", packageName, t, version.Spec.Token)
			}
		}
	}
}

func (v *validator) inputs() {
	for _, name := range slices.Sorted(maps.Keys(v.instances)) {
		problems := goldenpaths.CheckInputs(*v.instances[name], v.spec.Resources[name].Properties)
		if dnsLabel(name) { // else said already
			problems = goldenpaths.CheckInstance(*v.instances[name], name, v.spec.Resources[name].Properties)
		}
		for _, problem := range problems {
			path := "resources." + name + ".properties"
			if problem.Path != "" {
				path += "." + problem.Path
			}
			v.add(path, "%s", problem.Message)
		}
	}
}

func (v *validator) wires() {
	for _, name := range slices.Sorted(maps.Keys(v.spec.Variables)) {
		for _, ref := range references("variables."+name, literal(v.spec.Variables[name])) {
			v.wire(ref)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.spec.Outputs)) {
		for _, ref := range references("outputs."+name, literal(v.spec.Outputs[name])) {
			v.wire(ref)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.spec.Resources)) {
		for _, ref := range resourceReferences(name, v.spec.Resources[name]) {
			if v.wire(ref) {
				v.fits(name, ref)
			}
		}
	}
}

// wire reports whether a reference leads somewhere.
func (v *validator) wire(ref reference) bool {
	if ref.root == "" {
		v.add(ref.path, "An expression here names nothing or does not end; write ${name.output}, or $${ for the characters themselves.")
		return false
	}
	if _, ok := v.spec.Configuration[ref.root]; ok || ref.root == "pulumi" {
		return true
	}
	if _, ok := v.spec.Variables[ref.root]; ok {
		return true
	}
	if _, ok := v.spec.Resources[ref.root]; !ok {
		v.add(ref.path, "${%s…} leads to nothing: there is no instance, variable or config value %q; there is %s.", ref.root, ref.root, orNothing(v.reachable()))
		return false
	}
	version := v.instances[ref.root]
	if version == nil || ref.property == "" || ref.property == "urn" {
		return true
	}
	names := make([]string, 0, len(version.Spec.Outputs))
	for _, output := range version.Spec.Outputs {
		if output.Name == ref.property {
			return true
		}
		names = append(names, output.Name)
	}
	v.add(ref.path, "%s (%s) has no output %q; it has %s.", ref.root, version.Spec.GoldenPath, ref.property, orNothing(names))
	return false
}

// fits checks that an output wired whole to an input has the input's type.
func (v *validator) fits(name string, ref reference) {
	target, source := v.instances[name], v.instances[ref.root]
	inputName, direct := strings.CutPrefix(ref.path, "resources."+name+".properties.")
	if target == nil || source == nil || !ref.whole || !direct || ref.property == "" {
		return
	}
	for _, input := range target.Spec.Inputs {
		for _, output := range source.Spec.Outputs {
			if input.Name == inputName && output.Name == ref.property && !assignable(output.Type, input.Type) {
				v.add(ref.path, "%s is %s and the output %s.%s is %s; wire an output that fits.", input.Name, article(input.Type), ref.root, output.Name, article(output.Type))
			}
		}
	}
}

func assignable(from, to v1alpha1.ValueType) bool {
	return from == to || (from == v1alpha1.TypeInteger && to == v1alpha1.TypeNumber)
}

func article(t v1alpha1.ValueType) string {
	switch t {
	case v1alpha1.TypeInteger:
		return "a whole number"
	case v1alpha1.TypeArray:
		return "a list"
	case v1alpha1.TypeObject:
		return "a set of named values"
	case v1alpha1.TypeBoolean:
		return "true or false"
	case v1alpha1.TypeNumber:
		return "a number"
	case v1alpha1.TypeString:
		return "a text"
	}
	return string(t)
}

func (v *validator) reachable() []string {
	var names []string
	names = append(names, slices.Sorted(maps.Keys(v.spec.Resources))...)
	names = append(names, slices.Sorted(maps.Keys(v.spec.Variables))...)
	names = append(names, slices.Sorted(maps.Keys(v.spec.Configuration))...)
	sort.Strings(names)
	return names
}

// ValidateConfig returns what is wrong with an environment's values for what the
// Program declares. known holds the config that the Stack has already.
func ValidateConfig(spec pulumiv1.ProgramSpec, proposal v1alpha1.EnvironmentProposal, known map[string]bool) []v1alpha1.Problem {
	var problems []v1alpha1.Problem
	base := "environments." + string(proposal.Name)
	add := func(path, format string, args ...any) {
		problems = append(problems, v1alpha1.Problem{Path: base + "." + path, Message: fmt.Sprintf(format, args...)})
	}
	declared := orNothing(slices.Sorted(maps.Keys(spec.Configuration)))
	for _, key := range slices.Sorted(maps.Keys(proposal.Config)) {
		if strings.Contains(key, ":") {
			add("config."+key, "%q is config of a provider, which is for the environment to say.", key)
			continue
		}
		declaration, ok := spec.Configuration[key]
		if !ok {
			add("config."+key, "The Program declares no configuration %q; it declares %s.", key, declared)
			continue
		}
		if want, ok := configFits(declaration.Type, proposal.Config[key]); !ok {
			add("config."+key, "%s must be %s; it is %s.", key, want, proposal.Config[key].Raw)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(proposal.SecretsRef)) {
		if _, ok := spec.Configuration[key]; !ok {
			add("secretsRef."+key, "The Program declares no configuration %q; it declares %s.", key, declared)
		}
		if _, twice := proposal.Config[key]; twice {
			add("secretsRef."+key, "%s has a plain value as well; give it once.", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Configuration)) {
		_, plain := proposal.Config[key]
		_, secret := proposal.SecretsRef[key]
		if spec.Configuration[key].Default == nil && !plain && !secret && !known[key] {
			add("config", "%s has no value here and the Program gives no default: set it in config, or in secretsRef if it is secret.", key)
		}
	}
	return problems
}

func configFits(want pulumiv1.ConfigType, value apiextensionsv1.JSON) (words string, ok bool) {
	isNumber := func(v any) bool { f, ok := v.(float64); return ok && !math.IsNaN(f) }
	isString := func(v any) bool { _, ok := v.(string); return ok }
	all := func(v any, fits func(any) bool) bool {
		list, ok := v.([]any)
		for _, item := range list {
			ok = ok && fits(item)
		}
		return ok
	}
	v := literal(value)
	switch want {
	case "Number":
		return "a number", isNumber(v)
	case "List<Number>":
		return "a list of numbers", all(v, isNumber)
	case "List<String>":
		return "a list of texts", all(v, isString)
	case "String":
		return "a text", isString(v)
	}
	return "", true
}

func mebibytes(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func orNothing(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func itoa(i int) string { return strconv.Itoa(i) }
