package program

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestProjectFileIsAnOrdinaryPulumiYAML(t *testing.T) {
	spec := read(t, `
packages: {db: db@1.0.0}
configuration: {size: {type: Number}}
resources: {db: {type: "db:Db", properties: {big: 12345678901234567890}}}
outputs: {host: "${db.host}"}`)
	got, err := ProjectFile("orders", spec)
	if err != nil {
		t.Fatal(err)
	}
	want := `configuration:
  size:
    type: Number
name: orders
outputs:
  host: ${db.host}
packages:
  db: db@1.0.0
resources:
  db:
    properties:
      big: 12345678901234567890
    type: db:Db
runtime: yaml
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestDigest(t *testing.T) {
	base := `{"resources":{"a":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x":1,"y":2}}}}}`
	for name, test := range map[string]struct {
		other string
		same  bool
	}{
		"the order of keys":        {`{"resources":{"a":{"properties":{"data":{"y":2,"x":1}},"type":"kubernetes:core/v1:ConfigMap"}}}`, true},
		"white space":              {`{ "resources" : {"a":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x": 1, "y" : 2}}}}}`, true},
		"a value":                  {`{"resources":{"a":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x":1,"y":3}}}}}`, false},
		"a number as a text":       {`{"resources":{"a":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x":1,"y":"2"}}}}}`, false},
		"another name":             {`{"resources":{"b":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x":1,"y":2}}}}}`, false},
		"an option switched on":    {`{"resources":{"a":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x":1,"y":2}},"options":{"protect":true}}}}`, false},
		"one digit of a long one":  {`{"resources":{"a":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x":1,"y":2.0000000000000000001}}}}}`, false},
		"an empty map left out":    {`{"outputs":{},"resources":{"a":{"type":"kubernetes:core/v1:ConfigMap","properties":{"data":{"x":1,"y":2}}}}}`, true},
		"the same in another case": {`{"resources":{"a":{"type":"kubernetes:core/v1:configmap","properties":{"data":{"x":1,"y":2}}}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var a, b pulumiv1.ProgramSpec // by JSON, as the API server sends it: YAML would round numbers
			if err := errors.Join(json.Unmarshal([]byte(base), &a), json.Unmarshal([]byte(test.other), &b)); err != nil {
				t.Fatal(err)
			}
			if one, other := Digest(a), Digest(b); (one == other) != test.same {
				t.Errorf("the same digest: %t, want %t\n%s\n%s", one == other, test.same, base, test.other)
			}
		})
	}
}

func TestASnapshotIsNamedAfterItsContent(t *testing.T) {
	one, two := read(t, `{outputs: {a: 1}}`), read(t, `{outputs: {a: 2}}`)
	if SnapshotName("orders", one) == SnapshotName("orders", two) {
		t.Error("two contents share a name")
	}
	if diff := cmp.Diff("orders-"+Digest(one)[len("sha256:"):][:12], SnapshotName("orders", one)); diff != "" {
		t.Error(diff)
	}
}

func TestPins(t *testing.T) {
	spec := read(t, `packages: {web: web@1.9.0, db: db@1.0.0, gone: gone@1.0.0, odd: "https://example.com"}`)
	want := []v1alpha1.PinnedGoldenPath{
		{Name: "db", Version: "1.0.0", Digest: "sha256:db1.0.0"},
		{Name: "web", Version: "1.9.0", Digest: "sha256:web1.9.0"},
	}
	if diff := cmp.Diff(want, Pins(spec, shelf())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]v1alpha1.PinnedGoldenPath(nil), Pins(pulumiv1.ProgramSpec{}, shelf())); diff != "" {
		t.Error(diff)
	}
}

func TestCatalogue(t *testing.T) {
	c := shelf()
	if diff := cmp.Diff([]string{"1.10.0", "1.9.0"}, c.Versions("web")); diff != "" {
		t.Errorf("versions for use, the newest first:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"db", "web"}, c.GoldenPaths()); diff != "" {
		t.Errorf("golden paths with something for use:\n%s", diff)
	}
	if c.Version("web", "0.9.0") == nil {
		t.Error("a retired version is not found, but applied services still use it")
	}
	if c.Version("web", "7.0.0") != nil || c.Version("none", "1.0.0") != nil {
		t.Error("found what is not there")
	}
}

func TestProposalName(t *testing.T) {
	spec := v1alpha1.ChangeRequestSpec{Service: "orders", Description: "first"}
	other := v1alpha1.ChangeRequestSpec{Service: "orders", Environments: []v1alpha1.EnvironmentProposal{{Name: "dev"}}}
	base, _ := ProposalName(spec, nil)
	existing := func(name string, spec v1alpha1.ChangeRequestSpec, phase v1alpha1.ChangePhase) v1alpha1.ChangeRequest {
		cr := v1alpha1.ChangeRequest{Spec: spec}
		cr.Name, cr.Status.Phase = name, phase
		return cr
	}
	for name, test := range map[string]struct {
		existing []v1alpha1.ChangeRequest
		want     string
		twin     string
	}{
		"the first of its content":                  {nil, base, ""},
		"another proposal is open":                  {[]v1alpha1.ChangeRequest{existing("x", other, v1alpha1.ChangePreviewing)}, base, ""},
		"the same is open":                          {[]v1alpha1.ChangeRequest{existing("x", spec, v1alpha1.ChangeInReview)}, "", "x"},
		"the same is new, not looked at yet":        {[]v1alpha1.ChangeRequest{existing("x", spec, "")}, "", "x"},
		"the same has ended":                        {[]v1alpha1.ChangeRequest{existing(base, spec, v1alpha1.ChangeApplied)}, base + "-2", ""},
		"the same has ended twice":                  {[]v1alpha1.ChangeRequest{existing(base, spec, v1alpha1.ChangeApplied), existing(base+"-2", spec, v1alpha1.ChangeFailed)}, base + "-3", ""},
		"the same is open, known by its name":       {[]v1alpha1.ChangeRequest{existing(base, other, v1alpha1.ChangePreviewing)}, "", base},
		"the second of its name is open":            {[]v1alpha1.ChangeRequest{existing(base, spec, v1alpha1.ChangeApplied), existing(base+"-2", other, v1alpha1.ChangeApplying)}, "", base + "-2"},
		"why it is proposed makes no other content": {[]v1alpha1.ChangeRequest{existing("x", v1alpha1.ChangeRequestSpec{Service: "orders", Description: "second"}, v1alpha1.ChangePreviewing)}, "", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			got, twin := ProposalName(spec, test.existing)
			twinName := ""
			if twin != nil {
				twinName = twin.Name
			}
			if got != test.want || twinName != test.twin {
				t.Errorf("got %q and twin %q, want %q and %q", got, twinName, test.want, test.twin)
			}
		})
	}
}
