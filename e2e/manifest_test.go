package e2e

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// proposal is a change of a service that is one ConfigMap, the cheapest there is.
func proposal(service, colour string, environments ...string) string {
	return changeRequest(service, settings(service, colour), environments...)
}

// settings is a Program of one ConfigMap, named after the service.
func settings(service, colour string) map[string]any {
	return map[string]any{"resources": map[string]any{"settings": configMap(service, colour)}}
}

func configMap(name, colour string) map[string]any {
	return map[string]any{
		"type": "kubernetes:core/v1:ConfigMap",
		"properties": map[string]any{
			"metadata": map[string]any{"name": name},
			"data":     map[string]any{"colour": colour},
		},
	}
}

// changeRequest is a manifest of a change without a name, so that the command
// line gives it one.
func changeRequest(service string, program map[string]any, environments ...string) string {
	return manifest(map[string]any{
		"apiVersion": "towpath.dev/v1alpha1",
		"kind":       "ChangeRequest",
		"spec":       changeSpec(service, program, environments...),
	})
}

// namedChange is the same with a name, for kubectl.
func namedChange(name, service string, program map[string]any, environments ...string) string {
	return manifest(map[string]any{
		"apiVersion": "towpath.dev/v1alpha1",
		"kind":       "ChangeRequest",
		"metadata":   map[string]any{"name": name},
		"spec":       changeSpec(service, program, environments...),
	})
}

func changeSpec(service string, program map[string]any, environments ...string) map[string]any {
	var where []any
	for _, environment := range environments {
		where = append(where, map[string]any{"name": environment})
	}
	return map[string]any{"service": service, "program": program, "environments": where}
}

// review is a manifest of a review, whoever creates it.
func review(change, environment, digest, decision string, more map[string]any) string {
	spec := map[string]any{
		"changeRequest": change, "environment": environment, "planDigest": digest, "decision": decision,
	}
	for key, value := range more {
		spec[key] = value
	}
	return manifest(map[string]any{
		"apiVersion": "towpath.dev/v1alpha1",
		"kind":       "Review",
		"metadata":   map[string]any{"generateName": change + "-" + environment + "-"},
		"spec":       spec,
	})
}

func manifest(objects ...map[string]any) string {
	var documents []string
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			panic(fmt.Sprintf("write a manifest: %v", err)) // they are all plain data
		}
		documents = append(documents, string(text))
	}
	return strings.Join(documents, "---\n")
}

// replaced replaces a text that must be there exactly once.
func replaced(t *testing.T, text, old, by string) string {
	t.Helper()
	if n := strings.Count(text, old); n != 1 {
		t.Fatalf("%q stands there %d times; want once", old, n)
	}
	return strings.Replace(text, old, by, 1)
}
