package goldenpaths_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yaml "go.yaml.in/yaml/v3"

	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

func TestExpand(t *testing.T) {
	component, err := goldenpaths.ParseComponent(cache["PulumiPlugin.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		inputs map[string]any
		want   string
	}{
		"what is off is taken out, and defaults become variables": {
			inputs: map[string]any{"token": goldenpaths.Unknown{}},
			want: `
inputs:
  token: {type: string, secret: true}
variables: {name: one, size: 1, host: ""}
resources:
  server:
    type: kubernetes:apps/v1:Deployment
    properties:
      spec:
        replicas: ${size}
        containers:
          - {name: "${name}", token: "${token}"}
outputs:
  name: ${server.metadata.name}
`,
		},
		"what is on stays, and what it rules out goes": {
			inputs: map[string]any{"token": "t", "host": "example.com", "name": "two", "size": 3.0},
			want: `
inputs:
  token: {type: string, secret: true}
  host: {type: string, default: ""}
  name: {type: string, default: ""}
  size: {type: integer, default: 1}
resources:
  server:
    type: kubernetes:apps/v1:Deployment
    properties:
      spec:
        containers:
          - {name: "${name}", token: "${token}"}
  route:
    type: kubernetes:networking.k8s.io/v1:Ingress
    properties:
      host: ${host}
outputs:
  url: http://${host}
  name: ${server.metadata.name}
`,
		},
		"environment variables are listed by name, as expressions that give text": {
			inputs: map[string]any{"token": "t", "env": map[string]any{"B": goldenpaths.Unknown{}, "A": 5432.0}},
			want: `
inputs:
  token: {type: string, secret: true}
  env: {type: object}
variables: {name: one, size: 1, host: "", towpathEmptyText: ""}
resources:
  server:
    type: kubernetes:apps/v1:Deployment
    properties:
      spec:
        replicas: ${size}
        containers:
          - name: ${name}
            token: ${token}
            env:
              - {name: A, value: '${env["A"]}${towpathEmptyText}'}
              - {name: B, value: '${env["B"]}${towpathEmptyText}'}
outputs:
  name: ${server.metadata.name}
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := component.Expand("one", test.inputs)
			if err != nil {
				t.Fatal(err)
			}
			var file struct {
				Components map[string]any `yaml:"components"`
			}
			if err := yaml.Unmarshal([]byte(text), &file); err != nil {
				t.Fatal(err)
			}
			var want any
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, file.Components["Cache"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExpandRefuses(t *testing.T) {
	component, err := goldenpaths.ParseComponent(cache["PulumiPlugin.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		inputs map[string]any
		want   string
	}{
		"a switch that is not known yet": {
			map[string]any{"token": "t", "host": goldenpaths.Unknown{}}, "host of one decides what is created",
		},
		"environment variables that are not known yet": {
			map[string]any{"token": "t", "env": goldenpaths.Unknown{}}, "env must be an object",
		},
		"a name that would end the expression": {
			map[string]any{"token": "t", "env": map[string]any{`a"]} ${token`: "x"}}, "no name of an environment variable",
		},
		"a missing input":  {map[string]any{}, "one needs token"},
		"an unknown input": {map[string]any{"token": "t", "extra": 1.0}, `no input "extra"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := component.Expand("one", test.inputs)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one about %q", err, test.want)
			}
		})
	}
}

func TestExpandTwiceGivesTheSame(t *testing.T) {
	component, err := goldenpaths.ParseComponent(cache["PulumiPlugin.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]any{"token": "t", "host": "h.example.com", "env": map[string]any{"A": "1", "B": "2", "C": "3"}}
	first, err := component.Expand("one", inputs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := component.Expand("two", map[string]any{"token": "t"}); err != nil {
		t.Fatal(err)
	}
	again, err := component.Expand("one", inputs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
}

func TestSchema(t *testing.T) {
	component, err := goldenpaths.ParseComponent(cache["PulumiPlugin.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	schema, err := component.Schema("1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
		"name": "cache", "version": "1.2.0",
		"resources": {"cache:index:Cache": {
			"isComponent": true,
			"properties": {"url": {"$ref": "pulumi.json#/Any"}, "name": {"$ref": "pulumi.json#/Any"}},
			"required": ["url", "name"],
			"inputProperties": {
				"name": {"type": "string"}, "size": {"type": "integer"}, "host": {"type": "string"},
				"token": {"type": "string", "secret": true},
				"env": {"type": "object", "additionalProperties": {"type": "string"}}
			},
			"requiredInputs": ["token"]
		}}
	}`
	var got, wanted any
	if err := json.Unmarshal(schema, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
}
