package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

const (
	configType = "kubernetes:core/v1:ConfigMap"
	deployType = "kubernetes:apps/v1:Deployment"
)

func settings(data props) props {
	return props{"metadata": props{"name": "settings", "namespace": "shop-dev"}, "data": data}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	config := func(kind v1alpha1.StepKind, changes ...v1alpha1.PropertyChange) v1alpha1.PlanStep {
		return v1alpha1.PlanStep{
			Kind: kind, URN: configURN, Type: configType, Name: "settings", Object: "shop-dev/settings", Changes: changes,
		}
	}
	tests := map[string]struct {
		steps   []sampleStep
		want    []v1alpha1.PlanStep
		summary v1alpha1.PlanSummary
	}{
		"a create lists every input": {
			steps: []sampleStep{{op: opCreate, urn: configURN, new: props{
				"metadata":       props{"name": "settings", "namespace": "shop-dev", "labels": props{"app.kubernetes.io/name": "web"}},
				"data":           props{"a": "1", "b": unknownValue, "c": secretMark},
				"list":           []any{1, props{"x": true}},
				"empty":          props{},
				"__fieldManager": "pulumi-kubernetes-1234",
			}}},
			want: []v1alpha1.PlanStep{config(
				v1alpha1.StepCreate,
				v1alpha1.PropertyChange{Path: "data.a", New: jsonOf(`"1"`)},
				v1alpha1.PropertyChange{Path: "data.b", New: jsonOf(`"[unknown]"`)},
				v1alpha1.PropertyChange{Path: "data.c", New: jsonOf(`"[secret]"`)},
				v1alpha1.PropertyChange{Path: "empty", New: jsonOf(`{}`)},
				v1alpha1.PropertyChange{Path: "list[0]", New: jsonOf(`1`)},
				v1alpha1.PropertyChange{Path: "list[1].x", New: jsonOf(`true`)},
				v1alpha1.PropertyChange{Path: `metadata.labels["app.kubernetes.io/name"]`, New: jsonOf(`"web"`)},
				v1alpha1.PropertyChange{Path: "metadata.name", New: jsonOf(`"settings"`)},
				v1alpha1.PropertyChange{Path: "metadata.namespace", New: jsonOf(`"shop-dev"`)},
			)},
			summary: v1alpha1.PlanSummary{Create: 1, Text: "1 to create"},
		},
		"an update shows the paths that the provider names": {
			steps: []sampleStep{{
				op: opUpdate, urn: configURN,
				old:  settings(props{"a": "1", "gone": "x", "same": "y"}),
				new:  settings(props{"a": "2", "new": "z", "same": "y"}),
				diff: map[string]string{"data.a": "update", "data.gone": "delete", "data.new": "add", "__fieldManager": "update"},
			}},
			want: []v1alpha1.PlanStep{config(
				v1alpha1.StepUpdate,
				v1alpha1.PropertyChange{Path: "data.a", Old: jsonOf(`"1"`), New: jsonOf(`"2"`)},
				v1alpha1.PropertyChange{Path: "data.gone", Old: jsonOf(`"x"`)},
				v1alpha1.PropertyChange{Path: "data.new", New: jsonOf(`"z"`)},
			)},
			summary: v1alpha1.PlanSummary{Update: 1, Text: "1 to update"},
		},
		"a changed secret shows as masked on both sides": {
			steps: []sampleStep{{
				op: opUpdate, urn: configURN,
				old: props{"metadata": props{"name": "settings", "namespace": "shop-dev"}, "data": secretMark},
				new: props{"metadata": props{"name": "settings", "namespace": "shop-dev"}, "data": secretMark},
				// The whole map is secret, but the provider names the key.
				diff: map[string]string{"data.pw": "update"},
			}},
			want: []v1alpha1.PlanStep{config(
				v1alpha1.StepUpdate,
				v1alpha1.PropertyChange{Path: "data.pw", Old: jsonOf(`"[secret]"`), New: jsonOf(`"[secret]"`)},
			)},
			summary: v1alpha1.PlanSummary{Update: 1, Text: "1 to update"},
		},
		"an update without paths is compared here": {
			steps: []sampleStep{{
				op: opUpdate, urn: configURN,
				old:   props{"metadata": props{"name": "settings", "namespace": "shop-dev"}, "a": []any{1, 2}, "b": "x", "s": secretMark},
				new:   props{"metadata": props{"name": "settings", "namespace": "shop-dev"}, "a": []any{1, 3, 4}, "s": secretMark},
				diffs: []string{"a", "b", "s"},
			}},
			want: []v1alpha1.PlanStep{config(
				v1alpha1.StepUpdate,
				v1alpha1.PropertyChange{Path: "a[1]", Old: jsonOf(`2`), New: jsonOf(`3`)},
				v1alpha1.PropertyChange{Path: "a[2]", New: jsonOf(`4`)},
				v1alpha1.PropertyChange{Path: "b", Old: jsonOf(`"x"`)},
				v1alpha1.PropertyChange{Path: "s", Old: jsonOf(`"[secret]"`), New: jsonOf(`"[secret]"`)},
			)},
			summary: v1alpha1.PlanSummary{Update: 1, Text: "1 to update"},
		},
		"a replace is one step and names what forces it": {
			steps: []sampleStep{
				{
					op: opCreateReplacement, urn: configURN, old: settings(props{"a": "1", "b": "1"}), new: settings(props{"a": "2", "b": "2"}),
					diff: map[string]string{"data.a": "update-replace", "data.b": "update"}, keys: []string{"data"},
				},
				{op: opReplace, urn: configURN, old: settings(props{"a": "1"}), new: settings(props{"a": "2"})},
				{op: opDeleteReplaced, urn: configURN, old: settings(props{"a": "1"})},
			},
			want: []v1alpha1.PlanStep{config(
				v1alpha1.StepReplace,
				v1alpha1.PropertyChange{Path: "data.a", Old: jsonOf(`"1"`), New: jsonOf(`"2"`), Replaces: true},
				v1alpha1.PropertyChange{Path: "data.b", Old: jsonOf(`"1"`), New: jsonOf(`"2"`)},
			)},
			summary: v1alpha1.PlanSummary{Replace: 1, Text: "1 to replace"},
		},
		"replace keys name what forces it when the paths do not": {
			steps: []sampleStep{{
				op: opCreateReplacement, urn: configURN, old: settings(props{"a": "1"}), new: settings(props{"a": "2"}), keys: []string{"data"},
			}},
			want: []v1alpha1.PlanStep{config(
				v1alpha1.StepReplace,
				v1alpha1.PropertyChange{Path: "data.a", Old: jsonOf(`"1"`), New: jsonOf(`"2"`), Replaces: true},
			)},
			summary: v1alpha1.PlanSummary{Replace: 1, Text: "1 to replace"},
		},
		"components, the Stack and new providers are not resources": {
			steps: []sampleStep{
				{op: opCreate, urn: stackURN, new: props{}},
				{op: opCreate, urn: providerID, new: props{"namespace": "shop-dev"}},
				{op: opCreate, urn: webURN, new: props{"image": "web:1"}},
				{op: opCreate, urn: deployURN, new: props{"metadata": props{"name": "web"}}},
				{op: opSame, urn: otherURN, old: props{}, new: props{}},
			},
			want: []v1alpha1.PlanStep{{
				Kind: v1alpha1.StepCreate, URN: deployURN, Type: deployType, Name: "web-deployment", Parent: "web", Object: "web",
				Changes: []v1alpha1.PropertyChange{{Path: "metadata.name", New: jsonOf(`"web"`)}},
			}},
			summary: v1alpha1.PlanSummary{Create: 1, Same: 1, Text: "1 to create"},
		},
		"a provider that changes is shown, because it changes what all others do": {
			steps: []sampleStep{{
				op: opUpdate, urn: providerID, old: props{"namespace": "shop-dev"}, new: props{"namespace": "shop-prod"},
				diff: map[string]string{"namespace": "update"},
			}},
			want: []v1alpha1.PlanStep{{
				Kind: v1alpha1.StepUpdate, URN: providerID, Type: "pulumi:providers:kubernetes", Name: "default",
				Changes: []v1alpha1.PropertyChange{{Path: "namespace", Old: jsonOf(`"shop-dev"`), New: jsonOf(`"shop-prod"`)}},
			}},
			summary: v1alpha1.PlanSummary{Update: 1, Text: "1 to update"},
		},
		"losing protection is an update although nothing else changes": {
			steps: []sampleStep{{
				op: opSame, urn: configURN, old: settings(nil), new: settings(nil), oldSide: props{"protect": true},
			}},
			want: []v1alpha1.PlanStep{config(
				v1alpha1.StepUpdate,
				v1alpha1.PropertyChange{Path: "options.protect", Old: jsonOf(`true`), New: jsonOf(`false`)},
			)},
			summary: v1alpha1.PlanSummary{Update: 1, Text: "1 to update"},
		},
		"what a broken replace left behind is deleted beside": {
			steps: []sampleStep{
				{op: opDeleteReplaced, urn: configURN, old: settings(nil), oldSide: props{"delete": true}},
				{op: opSame, urn: configURN, old: settings(nil), new: settings(nil)},
			},
			want:    []v1alpha1.PlanStep{config(v1alpha1.StepDelete)},
			summary: v1alpha1.PlanSummary{Delete: 1, Same: 1, Text: "1 to delete"},
		},
		"the gravest steps come first": {
			steps: []sampleStep{
				{op: opCreate, urn: otherURN, new: props{}},
				{op: opDelete, urn: configURN, old: settings(nil)},
				{op: opUpdate, urn: deployURN, old: props{"a": 1}, new: props{"a": 2}},
			},
			want: []v1alpha1.PlanStep{
				config(v1alpha1.StepDelete),
				{
					Kind: v1alpha1.StepUpdate, URN: deployURN, Type: deployType, Name: "web-deployment", Parent: "web", Object: "id",
					Changes: []v1alpha1.PropertyChange{{Path: "a", Old: jsonOf(`1`), New: jsonOf(`2`)}},
				},
				{Kind: v1alpha1.StepCreate, URN: otherURN, Type: configType, Name: "other"},
			},
			summary: v1alpha1.PlanSummary{Create: 1, Update: 1, Delete: 1, Text: "1 to create, 1 to update, 1 to delete"},
		},
		"nothing to do": {
			steps:   []sampleStep{{op: opSame, urn: configURN, old: settings(nil), new: settings(nil)}},
			summary: v1alpha1.PlanSummary{Same: 1, Text: "no changes"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Build(preEvents(t, tc.steps...))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got.Steps); d != "" {
				t.Errorf("steps (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.summary, got.Summary); d != "" {
				t.Errorf("summary (-want +got):\n%s", d)
			}
		})
	}
}

func TestBuildTakesTheLastOutputsOfTheStack(t *testing.T) {
	t.Parallel()
	got, err := Build([]Event{
		stackOutputs(t, props{}),
		stackOutputs(t, props{"host": "db.shop-dev", "password": secretMark, "id": unknownValue, "nested": props{"p": secretMark}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]apiextensionsv1.JSON{
		"host":     *jsonOf(`"db.shop-dev"`),
		"password": *jsonOf(`"[secret]"`),
		"id":       *jsonOf(`"[unknown]"`),
		"nested":   *jsonOf(`{"p":"[secret]"}`),
	}
	if d := cmp.Diff(want, got.Outputs); d != "" {
		t.Errorf("outputs (-want +got):\n%s", d)
	}
}

func TestBuildShowsWhatARefreshFound(t *testing.T) {
	t.Parallel()
	drift := sampleStep{
		op: opUpdate, urn: configURN, old: settings(props{"a": "1"}), new: settings(props{"a": "by hand"}),
		diff: map[string]string{"data.a": "update"},
	}
	got, err := Build([]Event{
		sampleStep{op: opRefresh, urn: configURN, old: settings(nil), new: settings(nil)}.pre(t),
		sampleStep{op: opRefresh, urn: otherURN, old: settings(nil), new: settings(nil)}.pre(t),
		drift.out(t),
		sampleStep{op: opDelete, urn: otherURN, old: settings(nil)}.out(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "1 to update, 1 to delete"; got.Summary.Text != want {
		t.Errorf("summary = %q, want %q", got.Summary.Text, want)
	}
}

func TestBuildShowsWhereALongValueChanges(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("same line\n", 1000)
	got, err := Build(preEvents(t, sampleStep{
		op: opUpdate, urn: configURN,
		old:  settings(props{"file": long + "old" + long}),
		new:  settings(props{"file": long + "new" + long}),
		diff: map[string]string{"data.file": "update"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	change := got.Steps[0].Changes[0]
	for value, marker := range map[*apiextensionsv1.JSON]string{change.Old: "old", change.New: "new"} {
		if !strings.Contains(string(value.Raw), marker) {
			t.Errorf("%s does not show %q", value.Raw, marker)
		}
		if len(value.Raw) > maxValue+200 {
			t.Errorf("a value has %d bytes", len(value.Raw))
		}
	}
}

func TestBuildSaysWhatItCutsOff(t *testing.T) {
	t.Parallel()
	got, err := Build(preEvents(t, sampleStep{op: opCreate, urn: configURN, new: props{"file": strings.Repeat("é", 5000)}}))
	if err != nil {
		t.Fatal(err)
	}
	value := string(got.Steps[0].Changes[0].New.Raw)
	if want := `é… (8976 of 10000 bytes not shown)"`; !strings.HasSuffix(value, want) {
		t.Errorf("value ends %q, want %q", value[len(value)-60:], want)
	}
}

func TestBuildRefusesAnEventThatIsNotJSON(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]string{
		"text":         "hello",
		"two values":   `{} {}`,
		"wrong type":   `{"resourcePreEvent":{"metadata":{"op":7}}}`,
		"half a value": `{"resourcePreEvent":{`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Build([]Event{Event(event)}); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestBuildSurvivesAParentCycle(t *testing.T) {
	t.Parallel()
	a := sampleStep{op: opCreate, urn: configURN, new: props{}, newSide: props{"parent": otherURN}}
	b := sampleStep{op: opCreate, urn: otherURN, new: props{}, newSide: props{"parent": configURN}}
	got, err := Build(preEvents(t, a, b))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range got.Steps {
		if step.Parent != "" {
			t.Errorf("%s has the component %q", step.Name, step.Parent)
		}
	}
}

func TestBuildMarksWhatAPreviewMadeUp(t *testing.T) {
	t.Parallel()
	named := sampleStep{
		op: opCreate, urn: configURN,
		new:     props{"metadata": props{"name": "settings-1234beef", "namespace": "shop", "annotations": props{"pulumi.com/autonamed": "true"}}},
		newOuts: props{"metadata": props{"uid": "6dfdc609-48b2-42a0-966e-685002eae118"}, "spec": props{"clusterIP": "10.0.0.0"}},
	}
	consumer := sampleStep{op: opCreate, urn: otherURN, new: props{
		"name": "uses settings-1234beef", "uid": "6dfdc609-48b2-42a0-966e-685002eae118", "url": "http://10.0.0.0:80", "cidr": "10.0.0.0/8",
	}}
	values := func(events []Event) map[string]string {
		p, err := Build(events)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{"object": p.Steps[1].Object}
		for _, c := range p.Steps[0].Changes {
			out[c.Path] = string(c.New.Raw)
		}
		return out
	}
	events := []Event{named.pre(t), named.out(t), consumer.pre(t), consumer.out(t)}
	want := map[string]string{
		"object": "shop/settings-[unknown]", "name": `"uses settings-[unknown]"`, "uid": `"[unknown]"`,
		"url": `"http://[unknown]:80"`, "cidr": `"10.0.0.0/8"`,
	}
	if d := cmp.Diff(want, values(events)); d != "" {
		t.Errorf("preview (-want +got):\n%s", d)
	}
	for i, event := range events {
		events[i] = Event(strings.Replace(string(event), `"planning":true`, `"planning":false`, 1))
	}
	want = map[string]string{
		"object": "shop/settings-1234beef", "name": `"uses settings-1234beef"`, "uid": `"6dfdc609-48b2-42a0-966e-685002eae118"`,
		"url": `"http://10.0.0.0:80"`, "cidr": `"10.0.0.0/8"`,
	}
	if d := cmp.Diff(want, values(events)); d != "" {
		t.Errorf("apply (-want +got):\n%s", d)
	}
}
