package program

import (
	"maps"
	"strconv"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// shelf is a catalogue of two golden paths, one of them in every stage.
func shelf() Catalogue {
	version := func(path, number string, stage v1alpha1.Stage, component string, inputs []v1alpha1.GoldenPathInput, outputs []v1alpha1.GoldenPathOutput) v1alpha1.GoldenPathVersion {
		return v1alpha1.GoldenPathVersion{Spec: v1alpha1.GoldenPathVersionSpec{
			GoldenPath: path, Version: number, Stage: stage, Token: path + ":index:" + component,
			Digest: "sha256:" + path + number, Inputs: inputs, Outputs: outputs,
		}}
	}
	web := []v1alpha1.GoldenPathInput{
		{Name: "image", Type: v1alpha1.TypeString, Required: true},
		{Name: "replicas", Type: v1alpha1.TypeInteger, Minimum: new(int64(1)), Maximum: new(int64(20))},
		{Name: "share", Type: v1alpha1.TypeNumber},
		{Name: "env", Type: v1alpha1.TypeObject, Items: v1alpha1.TypeString},
		{Name: "hosts", Type: v1alpha1.TypeArray, Items: v1alpha1.TypeString},
		{Name: "public", Type: v1alpha1.TypeBoolean},
		{Name: "password", Type: v1alpha1.TypeString, Secret: true},
	}
	db := []v1alpha1.GoldenPathOutput{
		{Name: "host", Type: v1alpha1.TypeString},
		{Name: "port", Type: v1alpha1.TypeInteger},
		{Name: "ready", Type: v1alpha1.TypeBoolean},
		{Name: "labels", Type: v1alpha1.TypeObject},
		{Name: "replicas", Type: v1alpha1.TypeArray},
		{Name: "load", Type: v1alpha1.TypeNumber},
	}
	return NewCatalogue([]v1alpha1.GoldenPathVersion{
		version("web", "1.9.0", v1alpha1.StagePublished, "Web", web, nil),
		version("web", "1.10.0", v1alpha1.StageDeprecated, "Web", web, nil),
		version("web", "2.0.0", v1alpha1.StageDraft, "Web", web, nil),
		version("web", "0.9.0", v1alpha1.StageRetired, "Web", web, nil),
		version("db", "1.0.0", v1alpha1.StagePublished, "Db", nil, db),
		version("plans", "0.1.0", v1alpha1.StageDraft, "Plans", nil, nil),
	})
}

// read turns the YAML of a Program's content into one.
func read(tb testing.TB, text string) pulumiv1.ProgramSpec {
	tb.Helper()
	var spec pulumiv1.ProgramSpec
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		tb.Fatalf("fixture: %v\n%s", err, text)
	}
	return spec
}

// valid is a Program with nothing wrong in it.
const valid = `
configuration: {replicas: {type: Number, default: 2}, token: {type: String}}
packages: {web: web@1.9.0, db: db@1.0.0}
variables:
  greeting: hello ${db.host}
resources:
  shop:
    type: web:Web
    properties: {image: nginx, replicas: "${db.port}", env: {GREETING: "${greeting}", COST: "$${3}"}, password: "${token}"}
    options: {dependsOn: ["${db}"]}
  db: {type: "db:index:Db"}
  notes: {type: "kubernetes:core/v1:ConfigMap", properties: {data: {host: "${db.host}", port: {fn::toJSON: "${db.port}"}}}}
outputs: {host: "${db.host}", uid: '${notes.metadata["uid"]}', project: "${pulumi.project}"}`

func value(json string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(json)} }

// with returns the valid Program after edit.
func with(tb testing.TB, edit func(*pulumiv1.ProgramSpec)) pulumiv1.ProgramSpec {
	tb.Helper()
	spec := read(tb, valid)
	edit(&spec)
	return spec
}

// property returns the valid Program with one property of its web instance set.
func property(tb testing.TB, name, json string) pulumiv1.ProgramSpec {
	tb.Helper()
	return with(tb, func(spec *pulumiv1.ProgramSpec) {
		shop := spec.Resources["shop"]
		shop.Properties = maps.Clone(shop.Properties)
		shop.Properties[name] = value(json)
		spec.Resources["shop"] = shop
	})
}

func literalTexts(texts map[string]string) map[string]apiextensionsv1.JSON {
	values := map[string]apiextensionsv1.JSON{}
	for name, text := range texts {
		values[name] = value(strconv.Quote(text))
	}
	return values
}
