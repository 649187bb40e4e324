package compose

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/towpath-dev/towpath/internal/fault"
)

// maxInstances bounds what one form can ask for.
const maxInstances = 100

// Parse reads a posted form. Only fields that the form can have are looked at.
func Parse(values url.Values, w World, unseal func(field, sealed string) (string, bool)) (Form, error) {
	f := Form{
		Draft: values.Get("draft"), Fixed: values.Get("fixed") == "true", Base: values.Get("base"),
		Namespace: strings.TrimSpace(values.Get(FieldNamespace)), Service: strings.TrimSpace(values.Get(FieldService)),
		Description: strings.TrimSpace(strings.ReplaceAll(values.Get(FieldDescription), "\r\n", "\n")),
		AddPath:     values.Get(FieldAddPath), AddName: strings.TrimSpace(values.Get(FieldAddName)),
	}
	if rest := values.Get("rest"); rest != "" {
		if err := json.Unmarshal([]byte(rest), &f.Rest); err != nil {
			return f, fault.New(fault.Invalid, err, "The form could not be read. Open it anew.")
		}
	}
	for _, environment := range w.Stages() {
		if slices.Contains(values[FieldEnvironments], environment.Name) {
			f.Environments = append(f.Environments, environment.Name)
		}
	}
	if len(values["instance"]) > maxInstances {
		return f, fault.New(fault.Invalid, nil, "A service has at most %d instances; split it into several services.", maxInstances)
	}
	for _, posted := range values["instance"] {
		name, path, _ := strings.Cut(posted, "=")
		if !label.MatchString(name) || f.instance(name) != nil {
			return f, fault.New(fault.Invalid, nil, "The form could not be read. Open it anew.")
		}
		if version := values.Get(FieldVersion(path)); version != "" && w.Catalogue.Version(path, version) != nil {
			f.Rest.Versions = set(f.Rest.Versions, path, version)
		}
		f.Instances = append(f.Instances, f.parseInstance(values, w, name, path, unseal))
	}
	return f, nil
}

func (f *Form) parseInstance(values url.Values, w World, name, path string, unseal func(field, sealed string) (string, bool)) Instance {
	instance := Instance{Name: name, Path: path, Inputs: map[string]Input{}}
	version := f.Version(w, path)
	if version == nil {
		return instance
	}
	for _, output := range version.Spec.Outputs {
		if slices.Contains(values["export"], name+"."+output.Name) {
			instance.Exports = append(instance.Exports, output.Name)
		}
	}
	for _, spec := range version.Spec.Inputs {
		input := Input{Text: tidy(values.Get(FieldInput(name, spec.Name))), Wire: values.Get(FieldWire(name, spec.Name))}
		for _, environment := range w.Stages() {
			if each := tidy(values.Get(FieldEach(name, spec.Name, environment.Name))); each != "" {
				input.Each = set(input.Each, environment.Name, each)
			}
			if !spec.Secret {
				continue
			}
			secret := Secret{
				Value: values.Get(FieldSecret(name, spec.Name, environment.Name)),
				Ref:   strings.TrimSpace(values.Get(FieldRef(name, spec.Name, environment.Name))),
			}
			field := FieldSealed(name, spec.Name, environment.Name)
			if sealed := values.Get(field); secret.Value == "" && sealed != "" {
				secret.Value, _ = unseal(field, sealed)
			}
			if secret != (Secret{}) {
				input.Secrets = set(input.Secrets, environment.Name, secret)
			}
		}
		instance.Inputs[spec.Name] = input
	}
	return instance
}

// tidy takes off what no value means: space around it, and the line ends that
// browsers send.
func tidy(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

func set[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}
