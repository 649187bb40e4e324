package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/engine"
)

func TestProjectFile(t *testing.T) {
	t.Parallel()
	hosted := map[string]string{"web-service": "1.2.0", "postgres": "1.0.0"}
	for name, test := range map[string]struct {
		text    string
		want    string
		secrets []string
	}{
		"hosted golden paths are taken out, other packages stay": {
			text: "name: orders\nruntime: yaml\npackages:\n  web-service: web-service@1.2.0\n  aws: aws@6.0.0\n",
			want: "name: orders\nruntime: yaml\npackages:\n    aws: aws@6.0.0\n",
		},
		"packages go when none is left": {
			text: "name: orders\nruntime: yaml\npackages:\n  web-service: web-service@1.2.0\nresources: {}\n",
			want: "name: orders\nruntime: yaml\nresources: {}\n",
		},
		"name and runtime are filled in": {
			text: "resources: {}\n",
			want: "resources: {}\nname: orders\nruntime: yaml\n",
		},
		"literals called secret are found, references are not": {
			text:    "name: orders\nruntime: yaml\noutputs:\n  a: {fn::secret: hunter2}\n  b: {Fn::Secret: [x1, \"${db.host}\"]}\n",
			want:    "name: orders\nruntime: yaml\noutputs:\n    a: {'fn::secret': hunter2}\n    b: {'Fn::Secret': [x1, \"${db.host}\"]}\n",
			secrets: []string{"hunter2", "x1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, secrets, err := engine.ProjectFile(test.text, "orders", hosted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(file)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.secrets, secrets); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProjectFileRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"a key given twice": {"name: orders\nresources:\n  db: {type: a}\n  db: {type: b}\n", "resources.db is given twice, in lines 3 and 4"},
		"an alias":          {"name: orders\nvariables:\n  a: &x [1]\n  b: *x\n", "anchor or alias"},
		"a second document": {"name: orders\n---\nname: other\n", "more than one document"},
		"a list":            {"- a\n", "not a mapping"},
		"nothing":           {"", "read the program's Pulumi.yaml"},
		"another name":      {"name: other\n", `the name is "other"`},
		"another runtime":   {"name: orders\nruntime: nodejs\n", "the runtime is not yaml"},
		"a runtime that runs a command": {
			"name: orders\nruntime: {name: yaml, options: {compiler: sh}}\n", "the runtime is not yaml",
		},
		"plugins from a path":    {"name: orders\nplugins: {providers: [{name: x, path: /}]}\n", "plugins is not supported at the top"},
		"a file of this machine": {"name: orders\noutputs: {x: {Fn::ReadFile: /etc/passwd}}\n", "outputs.x.Fn::ReadFile reads a file"},
		"a golden path of another version": {
			"name: orders\npackages: {web-service: web-service@2.0.0}\n", `packages.web-service is "web-service@2.0.0"`,
		},
		"nesting without end": {
			"name: orders\nvariables: {a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}\n", "nests deeper",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := engine.ProjectFile(test.text, "orders", map[string]string{"web-service": "1.2.0"})
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want it to say %q", err, test.want)
			}
		})
	}
}
