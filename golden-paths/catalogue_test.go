package goldenpaths_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

// cache is a small valid golden path; tests change one file of it.
var cache = map[string]string{
	"PulumiPlugin.yaml": `
name: cache
runtime: yaml
components:
  Cache:
    inputs:
      name: {type: string, default: ""}
      size: {type: integer, default: 1}
      host: {type: string, default: ""}
      token: {type: string, secret: true}
    resources:
      server:
        type: kubernetes:apps/v1:Deployment
        properties:
          spec:
            replicas: ${size}
            containers:
              - name: ${name}
                token: ${token}
      route:
        type: kubernetes:networking.k8s.io/v1:Ingress
        properties:
          host: ${host}
    outputs:
      url: http://${host}
      name: ${server.metadata.name}
towpath:
  when:
    resources.route: host
    outputs.url: host
  unless:
    resources.server.properties.spec.replicas: host
  env:
    resources.server.properties.spec.containers[0].env: env
`,
	"golden-path.yaml": `
title: Cache
owner: platform
version: 1.2.0
stage: Published
inputs:
  size: {label: Size, minimum: 1, maximum: 9}
  token: {label: Token}
outputs:
  url: {type: string}
  name: {type: string, help: Its name.}
`,
	"README.md": "# Cache\n",
	"examples/small.yaml": `
title: Small
inputs: {token: "${password}"}
plan: {Deployment small: create}
`,
}

// with returns the cache golden path with a piece of a file replaced.
func with(t *testing.T, file, old, replacement string) fstest.MapFS {
	t.Helper()
	files := maps.Clone(cache)
	if !strings.Contains(files[file], old) {
		t.Fatalf("%s has no %q", file, old)
	}
	files[file] = strings.Replace(files[file], old, replacement, 1)
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys["cache/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func loadCache(t *testing.T) goldenpaths.Version {
	t.Helper()
	versions, err := goldenpaths.Load(with(t, "README.md", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(versions) != 1 {
		t.Fatalf("%d golden paths, want 1", len(versions))
	}
	return versions[0]
}

func TestBuiltinGoldenPathsAreWhole(t *testing.T) {
	versions, err := goldenpaths.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, version := range versions {
		names = append(names, version.GoldenPath.Name)
	}
	if diff := cmp.Diff([]string{"postgres", "tenant-namespace", "web-service"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestBuiltinGoldenPathsAreDocumented(t *testing.T) {
	versions, err := goldenpaths.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		name, spec := version.GoldenPath.Name, version.Version.Spec
		for _, input := range spec.Inputs {
			checkDocumented(t, name, input)
		}
		for _, output := range spec.Outputs {
			if output.Help == "" {
				t.Errorf("%s: output %s needs a help", name, output.Name)
			}
		}
	}
}

func checkDocumented(t *testing.T, name string, input v1alpha1.GoldenPathInput) {
	t.Helper()
	if input.Label == "" || input.Help == "" || input.Group == "" {
		t.Errorf("%s: input %s needs a label, a help and a group", name, input.Name)
	}
	isText := input.Type == v1alpha1.TypeString || input.Type == v1alpha1.TypeObject
	if isText && input.MaxLength == nil && input.Options == nil {
		t.Errorf("%s: input %s has no bound on its length", name, input.Name)
	}
	if input.Pattern != "" && input.PatternHelp == "" {
		t.Errorf("%s: input %s has a pattern without words for it", name, input.Name)
	}
}

func TestCardAndComponentBecomeOneVersion(t *testing.T) {
	version := loadCache(t)
	one, nine := int64(1), int64(9)
	wantInputs := []v1alpha1.GoldenPathInput{
		{Name: "size", Type: "integer", Default: literal(`1`), Label: "Size", Minimum: &one, Maximum: &nine},
		{Name: "token", Type: "string", Required: true, Secret: true, Label: "Token"},
		{Name: "name", Type: "string", Default: literal(`""`)},
		{Name: "host", Type: "string", Default: literal(`""`)},
		{Name: "env", Type: "object", Items: "string"},
	}
	spec := version.Version.Spec
	if diff := cmp.Diff(wantInputs, spec.Inputs); diff != "" {
		t.Errorf("inputs: the card's order first, then the component's: %s", diff)
	}
	wantOutputs := []v1alpha1.GoldenPathOutput{
		{Name: "url", Type: "string"}, {Name: "name", Type: "string", Help: "Its name."},
	}
	if diff := cmp.Diff(wantOutputs, spec.Outputs); diff != "" {
		t.Error(diff)
	}
	got := map[string]string{
		"path": version.GoldenPath.Name, "title": version.GoldenPath.Spec.Title, "name": version.Version.Name,
		"label": version.Version.Labels[v1alpha1.GoldenPathLabel], "token": spec.Token, "stage": string(spec.Stage),
		"component": spec.Component, "readme": spec.Readme,
	}
	want := map[string]string{
		"path": "cache", "title": "Cache", "name": "cache-1.2.0", "label": "cache", "token": "cache:index:Cache",
		"stage": "Published", "component": cache["PulumiPlugin.yaml"], "readme": "# Cache\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(goldenpaths.Digest(spec.Token, spec.Component, spec.Inputs), spec.Digest); diff != "" {
		t.Error(diff)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		file, old, replacement string
		want                   []string
	}{
		"a hint for an input that does not exist": {
			"golden-path.yaml", "  size:", "  sice:", []string{"golden-path.yaml", "inputs.sice", "did you mean size?"},
		},
		"an unknown key of a hint": {
			"golden-path.yaml", "minimum: 1", "least: 1", []string{"golden-path.yaml", "inputs.size", "least"},
		},
		"an unknown key of the card": {
			"golden-path.yaml", "owner: platform", "owner: platform\nowners: x", []string{"golden-path.yaml", "owners"},
		},
		"a card key given twice": {
			"golden-path.yaml", "title: Cache", "title: Cache\ntitle: Cache", []string{"golden-path.yaml", `"title" is given twice`},
		},
		"an output without a type": {
			"golden-path.yaml", "url: {type: string}", "url: {help: x}", []string{"golden-path.yaml", "outputs.url.type is missing"},
		},
		"an output of an unknown type": {
			"golden-path.yaml", "url: {type: string}", "url: {type: text}", []string{"golden-path.yaml", "outputs.url.type", "text"},
		},
		"an output that the component does not have": {
			"golden-path.yaml", "url: {type: string}", "uri: {type: string}", []string{"golden-path.yaml", "outputs.uri", "did you mean url?"},
		},
		"a bound that does not fit the type": {
			"golden-path.yaml", "label: Token", "minimum: 1", []string{"golden-path.yaml", "inputs.token.minimum"},
		},
		"a pattern that does not compile": {
			"golden-path.yaml", "label: Token", "pattern: '['", []string{"golden-path.yaml", "inputs.token.pattern"},
		},
		"a version that is not semantic": {
			"golden-path.yaml", "version: 1.2.0", "version: v1", []string{"golden-path.yaml", "version", "v1"},
		},
		"a stage that does not exist": {
			"golden-path.yaml", "stage: Published", "stage: Live", []string{"golden-path.yaml", "stage", "Live"},
		},
		"a component input without a type": {
			"PulumiPlugin.yaml", "size: {type: integer, default: 1}", "size: {default: 1}", []string{"PulumiPlugin.yaml", "inputs.size.type is missing"},
		},
		"a component input of a type that Pulumi YAML lacks": {
			"PulumiPlugin.yaml", "size: {type: integer, default: 1}", "size: {type: object}", []string{"PulumiPlugin.yaml", "inputs.size.type", "object"},
		},
		"a default of another type": {
			"PulumiPlugin.yaml", "size: {type: integer, default: 1}", "size: {type: integer, default: one}", []string{"PulumiPlugin.yaml", "inputs.size.default", "whole number"},
		},
		"an unknown key of an input": {
			"PulumiPlugin.yaml", "secret: true", "sensitive: true", []string{"PulumiPlugin.yaml", "inputs.token", "sensitive"},
		},
		"a component key given twice": {
			"PulumiPlugin.yaml", "      size:", "      name: {type: string}\n      size:", []string{"PulumiPlugin.yaml", `"name" is given twice`},
		},
		"an alias": {
			"PulumiPlugin.yaml", "replicas: ${size}", "replicas: *size", []string{"PulumiPlugin.yaml", "size"},
		},
		"two components": {
			"PulumiPlugin.yaml", "towpath:", "  Other: {resources: {}}\ntowpath:", []string{"PulumiPlugin.yaml", "2 entries"},
		},
		"another runtime": {
			"PulumiPlugin.yaml", "runtime: yaml", "runtime: go", []string{"PulumiPlugin.yaml", "runtime"},
		},
		"a rule for an input that does not exist": {
			"PulumiPlugin.yaml", "resources.route: host", "resources.route: hots", []string{"PulumiPlugin.yaml", "towpath", "hots"},
		},
		"a rule for a node that does not exist": {
			"PulumiPlugin.yaml", "resources.route: host", "resources.rout: host", []string{"PulumiPlugin.yaml", "towpath", `"rout"`},
		},
		"an env rule where something stands already": {
			"PulumiPlugin.yaml", "containers[0].env:", "containers[0].token:", []string{"PulumiPlugin.yaml", "containers[0].token"},
		},
		"an output that refers to what a switch takes out": {
			"PulumiPlugin.yaml", "    outputs:", "    outputs:\n      route: ${route.id}", []string{"PulumiPlugin.yaml", "host off", "route"},
		},
		"a reference to nothing": {
			"PulumiPlugin.yaml", "token: ${token}", "token: ${tokens}", []string{"PulumiPlugin.yaml", "tokens"},
		},
		"a folder of another name": {
			"PulumiPlugin.yaml", "name: cache", "name: cash", []string{"cache", "cash"},
		},
		"an example with an input that is refused": {
			"examples/small.yaml", `{token: "${password}"}`, `{token: "hunter2"}`, []string{"examples/small.yaml", "inputs.token", "secret"},
		},
		"an example without a plan": {
			"examples/small.yaml", "plan: {Deployment small: create}", "plan: {}", []string{"examples/small.yaml", "plan is missing"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := goldenpaths.Load(with(t, test.file, test.old, test.replacement))
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %q", err, want)
				}
			}
		})
	}
}

func TestDigestCoversWhatDecides(t *testing.T) {
	spec := loadCache(t).Version.Spec
	same := func(change func(*v1alpha1.GoldenPathVersionSpec)) bool {
		changed := spec.DeepCopy()
		change(changed)
		return goldenpaths.Digest(changed.Token, changed.Component, changed.Inputs) == spec.Digest
	}
	tests := map[string]struct {
		change func(*v1alpha1.GoldenPathVersionSpec)
		same   bool
	}{
		"the token":                {func(s *v1alpha1.GoldenPathVersionSpec) { s.Token += "x" }, false},
		"the component":            {func(s *v1alpha1.GoldenPathVersionSpec) { s.Component += "\n" }, false},
		"a bound":                  {func(s *v1alpha1.GoldenPathVersionSpec) { *s.Inputs[0].Maximum++ }, false},
		"a default":                {func(s *v1alpha1.GoldenPathVersionSpec) { s.Inputs[0].Default = literal(`2`) }, false},
		"the order of inputs":      {func(s *v1alpha1.GoldenPathVersionSpec) { slices.Reverse(s.Inputs) }, false},
		"the spelling of JSON":     {func(s *v1alpha1.GoldenPathVersionSpec) { s.Inputs[0].Default = literal(" 1 ") }, true},
		"the documentation":        {func(s *v1alpha1.GoldenPathVersionSpec) { s.Readme = "new" }, true},
		"a trip to the API server": {func(s *v1alpha1.GoldenPathVersionSpec) { roundTrip(t, s) }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := same(test.change); got != test.same {
				t.Errorf("same digest: %v, want %v", got, test.same)
			}
		})
	}
}

func roundTrip(t *testing.T, spec *v1alpha1.GoldenPathVersionSpec) {
	t.Helper()
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	*spec = v1alpha1.GoldenPathVersionSpec{}
	if err := json.Unmarshal(raw, spec); err != nil {
		t.Fatal(err)
	}
}

func literal(raw string) *apiextensionsv1.JSON {
	return &apiextensionsv1.JSON{Raw: []byte(raw)}
}
