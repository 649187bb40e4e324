package compose

import (
	"regexp"
	"strings"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Fitting are the outputs that an input can be wired to, as instance.output: those
// of other instances, of a type that fits, that do not close a circle.
func (f *Form) Fitting(w World, instance string, input v1alpha1.GoldenPathInput) []string {
	var fitting []string
	for _, source := range f.Instances {
		if source.Name == instance || f.dependsOn(source.Name, instance, map[string]bool{}) {
			continue
		}
		version := f.Version(w, source.Path)
		if version == nil {
			continue
		}
		for _, output := range version.Spec.Outputs {
			if assignable(output.Type, input.Type) {
				fitting = append(fitting, source.Name+"."+output.Name)
			}
		}
	}
	return fitting
}

func assignable(from, to v1alpha1.ValueType) bool {
	return from == to || from == v1alpha1.TypeInteger && to == v1alpha1.TypeNumber
}

var expression = regexp.MustCompile(`\$\{([A-Za-z_][-A-Za-z0-9_]*)`)

// dependsOn reports whether an instance needs another, directly or not.
func (f *Form) dependsOn(name, other string, seen map[string]bool) bool {
	instance := f.instance(name)
	if instance == nil || seen[name] {
		return false
	}
	seen[name] = true
	for _, input := range instance.Inputs {
		var needs []string
		if from, _, found := strings.Cut(input.Wire, "."); found {
			needs = append(needs, from)
		}
		for _, match := range expression.FindAllStringSubmatch(input.Text, -1) {
			needs = append(needs, match[1])
		}
		for _, need := range needs {
			if need == other || f.dependsOn(need, other, seen) {
				return true
			}
		}
	}
	return false
}
