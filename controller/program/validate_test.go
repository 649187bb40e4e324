package program

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// problem is a fault at a place; its message is compared in full, because people
// read it.
func problem(path, message string) []v1alpha1.Problem {
	return []v1alpha1.Problem{{Path: path, Message: message}}
}

func TestAValidProgramHasNoProblems(t *testing.T) {
	if diff := cmp.Diff([]v1alpha1.Problem(nil), Validate(read(t, valid), shelf())); diff != "" {
		t.Error(diff)
	}
}

func TestValidateNames(t *testing.T) {
	configMap := pulumiv1.Resource{Type: "kubernetes:core/v1:ConfigMap"}
	for name, test := range map[string]struct {
		edit func(*pulumiv1.ProgramSpec)
		want []v1alpha1.Problem
	}{
		"a program without resources does nothing": {
			func(s *pulumiv1.ProgramSpec) { s.Resources, s.Variables, s.Outputs = nil, nil, nil },
			problem("resources", "The Program has no resources: add at least one golden path instance."),
		},
		"a name that no expression can reach": {
			func(s *pulumiv1.ProgramSpec) { s.Resources["my map"] = configMap },
			problem("resources.my map", `"my map" is no usable name: begin with a letter and use letters, digits, - and _.`),
		},
		"the engine's own name": {
			func(s *pulumiv1.ProgramSpec) { s.Variables["pulumi"] = value(`"x"`) },
			problem("variables.pulumi", "The name pulumi is taken by the engine; choose another."),
		},
		"a name used twice": {
			func(s *pulumiv1.ProgramSpec) { s.Resources["greeting"] = configMap },
			problem("variables.greeting", `"greeting" is also the name of resources.greeting; every name is used once.`),
		},
		"config of a provider may have a colon": {
			func(s *pulumiv1.ProgramSpec) {
				s.Configuration["kubernetes:namespace"] = pulumiv1.Configuration{Type: "String"}
			},
			nil,
		},
		"a variable with a colon": {
			func(s *pulumiv1.ProgramSpec) { s.Variables["a:b"] = value(`"x"`) },
			problem("variables.a:b", `"a:b" is no usable name: begin with a letter and use letters, digits, - and _.`),
		},
		"an instance that cannot name objects": {
			func(s *pulumiv1.ProgramSpec) { s.Resources["Cache"] = pulumiv1.Resource{Type: "db:Db"} },
			problem("resources.Cache", `"Cache" is no DNS label: use at most 40 lower-case letters, digits and -, beginning with a letter. Objects in the cluster are named after it.`),
		},
		"an instance with too long a name": {
			func(s *pulumiv1.ProgramSpec) { s.Resources[strings.Repeat("a", 41)] = pulumiv1.Resource{Type: "db:Db"} },
			problem("resources."+strings.Repeat("a", 41), `"`+strings.Repeat("a", 41)+`" is no DNS label: use at most 40 lower-case letters, digits and -, beginning with a letter. Objects in the cluster are named after it.`),
		},
		"a plain resource may have any logical name": {
			func(s *pulumiv1.ProgramSpec) { s.Resources["My_Map"] = configMap },
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Validate(with(t, test.edit), shelf())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateCatalogue(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*pulumiv1.ProgramSpec)
		want []v1alpha1.Problem
	}{
		"a deprecated version still works": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["web"] = "web@1.10.0" },
			nil,
		},
		"a version that does not exist": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["web"] = "web@3.0.0" },
			problem("packages.web", "Golden path web has no version 3.0.0; there is 1.10.0, 1.9.0."),
		},
		"a draft": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["web"] = "web@2.0.0" },
			problem("packages.web", "web 2.0.0 is a draft that its owners have not published yet; there is 1.10.0, 1.9.0."),
		},
		"a retired version": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["web"] = "web@0.9.0" },
			problem("packages.web", "web 0.9.0 is retired: no new change may use it; there is 1.10.0, 1.9.0."),
		},
		"a pin without a version": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["web"] = "web" },
			problem("packages.web", `Write web@<version>, as in web@1.0.0; it is "web".`),
		},
		"a pin of another package": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["web"] = "db@1.0.0" },
			problem("packages.web", `Write web@<version>, as in web@1.0.0; it is "db@1.0.0".`),
		},
		"a package from elsewhere": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["aws"] = "https://example.com/aws@1.0.0" },
			problem("packages.aws", `Write aws@<version>, as in aws@1.0.0; it is "https://example.com/aws@1.0.0".`),
		},
		"a golden path that does not exist": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["cache"] = "cache@1.0.0" },
			problem("packages.cache", `There is no golden path "cache"; the catalogue has db, web.`),
		},
		"a golden path of which nothing is published": {
			func(s *pulumiv1.ProgramSpec) { s.Packages["plans"] = "plans@0.1.0" },
			problem("packages.plans", `There is no golden path "plans"; the catalogue has db, web.`),
		},
		"a resource of a golden path that does not exist": {
			func(s *pulumiv1.ProgramSpec) { s.Resources["cache"] = pulumiv1.Resource{Type: "cache:Cache"} },
			problem("resources.cache.type", `There is no golden path "cache"; the catalogue has db, web.`),
		},
		"a golden path that is not pinned": {
			func(s *pulumiv1.ProgramSpec) { delete(s.Packages, "db") },
			problem("resources.db.type", `Pin the version of db: add "db: db@1.0.0" to packages.`),
		},
		"a component that the golden path does not have": {
			func(s *pulumiv1.ProgramSpec) { s.Resources["more"] = pulumiv1.Resource{Type: "web:Shop"} },
			problem("resources.more.type", `web has no component "web:Shop"; write web:index:Web.`),
		},
		"no type at all": {
			func(s *pulumiv1.ProgramSpec) { s.Resources["more"] = pulumiv1.Resource{Type: "Web"} },
			problem("resources.more.type", `"Web" is no type: write <golden path>:index:<Component>, as in web-service:index:WebService.`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Validate(with(t, test.edit), shelf())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateInputs(t *testing.T) {
	const at = "resources.shop.properties."
	for name, test := range map[string]struct {
		input, json string
		want        []v1alpha1.Problem
	}{
		"a missing value":              {"image", `null`, problem(at+"image", "image is required")},
		"a text for a number":          {"replicas", `"two"`, problem(at+"replicas", `replicas must be a whole number between 1 and 20; it is "two"`)},
		"a number out of bounds":       {"replicas", `21`, problem(at+"replicas", "replicas must be a whole number between 1 and 20; it is 21")},
		"an input that does not exist": {"replica", `2`, problem(at+"replica", `web has no input "replica"; did you mean replicas?`)},
		"a secret as a literal":        {"password", `"hunter2"`, problem(at+"password", "password is secret: give it by secret config, as in ${password}, never as a literal")},
		"an output of the wrong type":  {"replicas", `"${db.host}"`, problem(at+"replicas", "replicas is a whole number and the output db.host is a text; wire an output that fits.")},
		"a list for a number":          {"share", `"${db.replicas}"`, problem(at+"share", "share is a number and the output db.replicas is a list; wire an output that fits.")},
		"a whole number for a number":  {"share", `"${db.port}"`, nil},
		"a number for a whole number":  {"replicas", `"${db.load}"`, problem(at+"replicas", "replicas is a whole number and the output db.load is a number; wire an output that fits.")},
		"a flag for a text":            {"image", `"${db.ready}"`, problem(at+"image", "image is a text and the output db.ready is true or false; wire an output that fits.")},
		"an object for a list":         {"hosts", `"${db.labels}"`, problem(at+"hosts", "hosts is a list and the output db.labels is a set of named values; wire an output that fits.")},
		"a text for a flag":            {"public", `"${db.host}"`, problem(at+"public", "public is true or false and the output db.host is a text; wire an output that fits.")},
		"a number within a text":       {"image", `"nginx:${db.port}"`, nil},
		"a number deeper down":         {"env", `{"PORT":"${db.port}"}`, nil},
		"an expression that a function makes": {
			"image", `{"fn::join":["", ["nginx:", "${db.port}"]]}`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Validate(property(t, test.input, test.json), shelf())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateWires(t *testing.T) {
	const there = "there is db, greeting, notes, replicas, shop, token."
	for name, test := range map[string]struct {
		edit func(*pulumiv1.ProgramSpec)
		want []v1alpha1.Problem
	}{
		"an output that leads to nothing": {
			func(s *pulumiv1.ProgramSpec) { s.Outputs["host"] = value(`"${cache.host}"`) },
			problem("outputs.host", `${cache…} leads to nothing: there is no instance, variable or config value "cache"; `+there),
		},
		"a variable that leads to nothing": {
			func(s *pulumiv1.ProgramSpec) { s.Variables["greeting"] = value(`["${cache}"]`) },
			problem("variables.greeting[0]", `${cache…} leads to nothing: there is no instance, variable or config value "cache"; `+there),
		},
		"a dependency that leads to nothing": {
			func(s *pulumiv1.ProgramSpec) {
				s.Resources["notes"] = pulumiv1.Resource{Type: "kubernetes:core/v1:ConfigMap", Options: &pulumiv1.ResourceOptions{Parent: new(value(`"${cache}"`))}}
				delete(s.Outputs, "uid")
			},
			problem("resources.notes.options.parent", `${cache…} leads to nothing: there is no instance, variable or config value "cache"; `+there),
		},
		"a resource that is only read leads to nothing": {
			func(s *pulumiv1.ProgramSpec) {
				s.Resources["notes"] = pulumiv1.Resource{Type: "kubernetes:core/v1:ConfigMap", Get: &pulumiv1.Getter{ID: "a/${cache.id}"}}
			},
			problem("resources.notes.get.id", `${cache…} leads to nothing: there is no instance, variable or config value "cache"; `+there),
		},
		"an output that the golden path does not have": {
			func(s *pulumiv1.ProgramSpec) { s.Outputs["host"] = value(`"${db.hots}"`) },
			problem("outputs.host", `db (db) has no output "hots"; it has host, port, ready, labels, replicas, load.`),
		},
		"the output of an instance without any": {
			func(s *pulumiv1.ProgramSpec) { s.Outputs["host"] = value(`"${shop.url}"`) },
			problem("outputs.host", `shop (web) has no output "url"; it has none.`),
		},
		"every instance has a URN": {
			func(s *pulumiv1.ProgramSpec) { s.Outputs["host"] = value(`"${shop.urn}"`) },
			nil,
		},
		"an expression that does not end": {
			func(s *pulumiv1.ProgramSpec) { s.Outputs["host"] = value(`"${db.host"`) },
			problem("outputs.host", "An expression here names nothing or does not end; write ${name.output}, or $${ for the characters themselves."),
		},
		"an expression that names nothing": {
			func(s *pulumiv1.ProgramSpec) { s.Outputs["host"] = value(`"${}"`) },
			problem("outputs.host", "An expression here names nothing or does not end; write ${name.output}, or $${ for the characters themselves."),
		},
		"a circle of two": {
			func(s *pulumiv1.ProgramSpec) {
				s.Variables["greeting"] = value(`"${farewell}"`)
				s.Variables["farewell"] = value(`"${greeting}"`)
			},
			problem("resources.farewell", "These refer to each other in a circle: farewell → greeting → farewell. Break it at one place."),
		},
		"a resource that refers to itself": {
			func(s *pulumiv1.ProgramSpec) {
				s.Resources["notes"] = pulumiv1.Resource{Type: "kubernetes:core/v1:ConfigMap", Properties: map[string]apiextensionsv1.JSON{"data": value(`{"a":"${notes.id}"}`)}}
			},
			problem("resources.notes", "These refer to each other in a circle: notes → notes. Break it at one place."),
		},
		"a circle over a dependency": {
			func(s *pulumiv1.ProgramSpec) {
				s.Resources["notes"] = pulumiv1.Resource{Type: "kubernetes:core/v1:ConfigMap", Options: &pulumiv1.ResourceOptions{DependsOn: []apiextensionsv1.JSON{value(`"${more}"`)}}}
				s.Resources["more"] = pulumiv1.Resource{Type: "kubernetes:core/v1:ConfigMap", Properties: map[string]apiextensionsv1.JSON{"data": value(`{"a":"${notes.id}"}`)}}
			},
			problem("resources.more", "These refer to each other in a circle: more → notes → more. Break it at one place."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Validate(with(t, test.edit), shelf())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryProblemIsSaidInTheOrderOfItsPlace(t *testing.T) {
	spec := read(t, `
packages: {web: web@1.9.0}
resources:
  shop: {type: "web:Web", properties: {replicas: 0}}
  db: {type: "db:Db"}
outputs: {x: "${y}"}`)
	want := []string{"outputs.x", "resources.db.type", "resources.shop.properties.image", "resources.shop.properties.replicas"}
	var got []string
	for _, p := range Validate(spec, shelf()) {
		got = append(got, p.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAProgramThatIsTooLargeIsNotLookedAtFurther(t *testing.T) {
	spec := read(t, valid)
	spec.Variables["big"] = value(`"` + strings.Repeat("x", MaxSize) + `"`)
	want := problem("program", "The Program has 1.0 MiB; at most 1.0 MiB fit. Split it into several services.")
	if diff := cmp.Diff(want, Validate(spec, shelf())); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyCatalogueIsSaidToBeEmpty(t *testing.T) {
	spec := read(t, `{resources: {db: {type: "db:Db"}}}`)
	want := problem("resources.db.type", `There is no golden path "db"; the catalogue has none.`)
	if diff := cmp.Diff(want, Validate(spec, NewCatalogue(nil))); diff != "" {
		t.Error(diff)
	}
}
