package operation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/cluster"
	"github.com/towpath-dev/towpath/controller/plan"
)

func TestNeededAccess(t *testing.T) {
	t.Parallel()
	pre := func(op, typ, custom, inputs string) plan.Event {
		return plan.Event(`{"resourcePreEvent":{"metadata":{"op":"` + op + `","new":{"type":"` + typ +
			`","custom":` + custom + `,"inputs":` + inputs + `}}}}`)
	}
	const (
		configMap  = "kubernetes:core/v1:ConfigMap"
		deployment = "kubernetes:apps/v1:Deployment"
	)
	for name, test := range map[string]struct {
		events []plan.Event
		want   []cluster.Access
	}{
		"a create takes create and patch, once for all of a kind in a namespace": {
			[]plan.Event{
				pre("create", configMap, "true", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"a"}}`),
				pre("create", configMap, "true", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"b"}}`),
			},
			[]cluster.Access{
				{Verb: "create", APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop"},
				{Verb: "patch", APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop"},
			},
		},
		"an update takes patch": {
			[]plan.Event{pre("update", deployment, "true", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop"}}`)},
			[]cluster.Access{{Verb: "patch", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop"}},
		},
		"an object without a namespace": {
			[]plan.Event{pre("update", "kubernetes:core/v1:Namespace", "true", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x"}}`)},
			[]cluster.Access{{Verb: "patch", APIVersion: "v1", Kind: "Namespace"}},
		},
		"what does not change, is no object, or is not known yet takes nothing": {
			[]plan.Event{
				pre("same", configMap, "true", `{"apiVersion":"v1","kind":"ConfigMap"}`),
				pre("create", "web-service:index:WebService", "false", `{}`),
				pre("create", configMap, "true", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"`+unknown+`"}}`),
				pre("create", configMap, "true", `{"apiVersion":"v1","kind":"ConfigMap","metadata":"`+unknown+`"}`),
				plan.Event(`{"cancelEvent":{}}`),
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, neededAccess(test.events)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
