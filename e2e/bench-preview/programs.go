package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

// instance is one use of a golden path.
type instance struct {
	name, path string
	inputs     map[string]any
}

type instances []instance

// mixed is n instances, databases and web services in turn, each service wired to
// the database before it.
func mixed(n int) instances {
	var all instances
	for i := range n / 2 {
		db, web := fmt.Sprintf("db-%d", i), fmt.Sprintf("web-%d", i)
		all = append(all,
			instance{db, "postgres", map[string]any{"name": db, "password": "bench-password"}},
			instance{web, "web-service", map[string]any{"name": web, "image": "example.com/web:1", "secretName": "${" + db + ".secretName}"}})
	}
	return all
}

var tokens = map[string]string{"postgres": "postgres:index:Postgres", "web-service": "web-service:index:WebService"}

// program uses the golden paths, as a developer's Program does.
func (all instances) program() map[string]any {
	resources := map[string]any{}
	for _, i := range all {
		resources[i.name] = map[string]any{"type": tokens[i.path], "properties": i.inputs}
	}
	return map[string]any{
		"resources": resources,
		"packages":  map[string]any{"postgres": "postgres@1.0.0", "web-service": "web-service@1.0.0"},
	}
}

// expanded is an instance's component as Pulumi sees it.
func expanded(components map[string]*goldenpaths.Component, i instance) (body map[string]any, text string, err error) {
	inputs := map[string]any{}
	for name, value := range i.inputs {
		inputs[name] = value
	}
	if text, err = components[i.path].Expand(i.name, inputs); err != nil {
		return nil, "", err
	}
	var plugin struct {
		Components map[string]map[string]any `json:"components"`
	}
	if err := yaml.Unmarshal([]byte(text), &plugin); err != nil {
		return nil, "", err
	}
	for _, component := range plugin.Components {
		return component, text, nil
	}
	return nil, "", fmt.Errorf("golden path %s has no component", i.path)
}

// flat is the same resources without components: inputs put in, children named as
// the product names them.
func (all instances) flat(components map[string]*goldenpaths.Component) map[string]any {
	resources := map[string]any{}
	for _, i := range all {
		body, _, err := expanded(components, i)
		if err != nil {
			panic(err) // the built-in golden paths and the inputs above
		}
		values := map[string]any{}
		for name, value := range asMap(body["variables"]) {
			values[name] = value
		}
		for name, value := range i.inputs {
			values[name] = value
		}
		if s, ok := values["secretName"].(string); ok {
			values["secretName"] = strings.Replace(s, ".secretName", "-credentials.metadata.name", 1)
		}
		for child, resource := range asMap(body["resources"]) {
			resources[i.name+"-"+child] = substitute(resource, i.name, values, asMap(body["resources"]))
		}
	}
	return map[string]any{"resources": resources}
}

var expression = regexp.MustCompile(`\$\{([A-Za-z_][-A-Za-z0-9_]*)([^}]*)\}`)

func substitute(value any, instance string, values, children map[string]any) any {
	switch v := value.(type) {
	case map[string]any:
		result := map[string]any{}
		for key, item := range v {
			result[key] = substitute(item, instance, values, children)
		}
		return result
	case []any:
		result := make([]any, len(v))
		for i, item := range v {
			result[i] = substitute(item, instance, values, children)
		}
		return result
	case string:
		if whole := expression.FindStringSubmatch(v); whole != nil && whole[0] == v && whole[2] == "" {
			if replacement, ok := values[whole[1]]; ok {
				return replacement
			}
		}
		return expression.ReplaceAllStringFunc(v, func(match string) string {
			parts := expression.FindStringSubmatch(match)
			if _, ok := children[parts[1]]; ok {
				return "${" + instance + "-" + parts[1] + parts[2] + "}"
			}
			if replacement, ok := values[parts[1]]; ok && parts[2] == "" {
				return fmt.Sprint(replacement)
			}
			return match
		})
	}
	return value
}

func asMap(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// configMaps is a plain program of n ConfigMaps.
func configMaps(n int) map[string]any {
	resources := map[string]any{}
	for i := range n {
		name := fmt.Sprintf("map-%03d", i)
		resources[name] = map[string]any{
			"type": "kubernetes:core/v1:ConfigMap",
			"properties": map[string]any{
				"metadata": map[string]any{"name": name},
				"data":     map[string]any{"number": fmt.Sprint(i), "text": "a small value"},
			},
		}
	}
	return map[string]any{"resources": resources}
}

func named(name string, program map[string]any) map[string]any {
	project := map[string]any{"name": name, "runtime": "yaml"}
	for key, value := range program {
		project[key] = value
	}
	return project
}

// stock previews instances as Pulumi does by itself: each component is a plugin
// in a folder. Stock plugins cannot be used twice in one program, so there is one
// instance of each.
func (l *lab) stock(project string, all instances) func(context.Context) error {
	var preview func(context.Context) error
	return func(ctx context.Context) error {
		if preview != nil {
			return preview(ctx)
		}
		packages := map[string]any{}
		for _, i := range all {
			dir := filepath.Join(l.dir, "plugins", i.path)
			_, text, err := expanded(l.components, i)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, "PulumiPlugin.yaml"), []byte(text), 0o600); err != nil {
				return err
			}
			packages[i.path] = dir
		}
		program := all.program()
		program["packages"] = packages
		preview = l.bare(project, program)
		return preview(ctx)
	}
}
