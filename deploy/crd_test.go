package deploy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func change(spec string) string {
	return `
apiVersion: towpath.dev/v1alpha1
kind: ChangeRequest
metadata: {name: orders-1}
spec: ` + spec
}

func environment(name, spec string) string {
	return `
apiVersion: towpath.dev/v1alpha1
kind: Environment
metadata: {name: ` + name + `}
spec: ` + spec
}

func review(spec string) string {
	return `
apiVersion: towpath.dev/v1alpha1
kind: Review
metadata: {name: review-1}
spec: ` + spec
}

func stack(spec string) string {
	return `
apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: orders-dev}
spec: ` + spec
}

// Every door gives the same refusals, because the schema gives them.
func TestKindsRefuse(t *testing.T) {
	const longName = "a-name-that-is-longer-than-the-sixty-three-characters-of-a-label"
	for name, test := range map[string]struct {
		kind    schema.GroupVersionResource
		object  string
		refused string // "": it is valid
	}{
		"a valid change":                      {changeRequests, aChange, ""},
		"a change without a spec":             {changeRequests, `{apiVersion: towpath.dev/v1alpha1, kind: ChangeRequest, metadata: {name: a}}`, "spec: Required value"},
		"a change with a name too long":       {changeRequests, `{apiVersion: towpath.dev/v1alpha1, kind: ChangeRequest, metadata: {name: ` + longName + `}, spec: {service: orders, program: {}, environments: [{name: dev}]}}`, "at most 63 characters"},
		"a service that is no DNS label":      {changeRequests, change(`{service: Orders_1, program: {}, environments: [{name: dev}]}`), "spec.service"},
		"a service with a name too long":      {changeRequests, change(`{service: a123456789012345678901234567890, program: {}, environments: [{name: dev}]}`), "spec.service"},
		"a change for no environment":         {changeRequests, change(`{service: orders, program: {}, environments: []}`), "spec.environments"},
		"a change for an environment twice":   {changeRequests, change(`{service: orders, program: {}, environments: [{name: dev}, {name: dev}]}`), "Duplicate value"},
		"a resource without a type":           {changeRequests, change(`{service: orders, program: {resources: {web: {properties: {}}}}, environments: [{name: dev}]}`), "spec.program.resources.web.type: Required value"},
		"a resource that is a word":           {changeRequests, change(`{service: orders, program: {resources: {web: nginx}}, environments: [{name: dev}]}`), "must be of type object"},
		"a secret reference without a key":    {changeRequests, change(`{service: orders, program: {}, environments: [{name: dev, secretsRef: {password: {name: db}}}]}`), "secretsRef.password.key: Required value"},
		"a config value of any type":          {changeRequests, change(`{service: orders, program: {}, environments: [{name: dev, config: {a: 1, b: [x], c: {d: true}}}]}`), ""},
		"a review of no plan":                 {reviews, review(`{changeRequest: a, environment: dev, decision: Approve}`), "spec.planDigest: Required value"},
		"a review of a digest cut short":      {reviews, review(`{changeRequest: a, environment: dev, planDigest: "sha256:12", decision: Approve}`), "spec.planDigest"},
		"a rejection without a reason":        {reviews, review(`{changeRequest: a, environment: dev, planDigest: "` + digest + `", decision: Reject}`), "say why"},
		"a decision that is none":             {reviews, review(`{changeRequest: a, environment: dev, planDigest: "` + digest + `", decision: Maybe}`), "Unsupported value"},
		"an environment that takes no review": {environments, environment("free", `{approval: {required: 0}}`), "spec.approval.required"},
		"an environment after itself":         {environments, environment("loop", `{after: [loop]}`), "an environment cannot come after itself"},
		"an environment with a long name":     {environments, environment("a12345678901234567890", `{}`), "at most 20 characters"},
		"an environment with a dot":           {environments, environment("a.b", `{}`), "DNS label"},
		"a freshness in days":                 {environments, environment("days", `{freshness: 7d}`), "spec.freshness"},
		"a freshness beyond Go's durations":   {environments, environment("ages", `{freshness: 9999999h}`), "spec.freshness"},
		"a freshness as Go writes it":         {environments, environment("fresh", `{freshness: 168h0m0s}`), ""},
		"a Stack as the operator takes it":    {stacks, stack(`{stack: a/b/c, prerequisites: [{name: x, requirement: {succeededWithinDuration: 1h30m}}], workspaceTemplate: {spec: {any: thing}}}`), ""},
		"a Stack with a duration in words":    {stacks, stack(`{stack: a/b/c, prerequisites: [{name: x, requirement: {succeededWithinDuration: an hour}}]}`), "succeededWithinDuration"},
		"a Stack with a number beyond int64":  {stacks, stack(`{stack: a/b/c, resyncFrequencySeconds: 1e30}`), "resyncFrequencySeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := ""
			if test.kind != environments {
				namespace = team(t)
			}
			_, err := admin(t).Resource(test.kind).Namespace(namespace).Create(t.Context(), parse(t, test.object), metav1.CreateOptions{})
			refusal(t, err, test.refused)
		})
	}
}

// The operator prunes what it does not know, and so do we: manifests move over
// and back unchanged.
func TestUnknownFieldsOfAStackArePruned(t *testing.T) {
	created := create(t, admin(t), stacks, team(t), stack(`{stack: a/b/c, novelty: true, workspaceTemplate: {spec: {any: thing}}}`))
	if _, found := created.Object["spec"].(map[string]any)["novelty"]; found {
		t.Error("spec.novelty was kept")
	}
	if field(t, created, "spec", "workspaceTemplate", "spec", "any") != "thing" {
		t.Error("spec.workspaceTemplate was pruned")
	}
}

func TestDefaultsOfAnEnvironmentAreTheStrictest(t *testing.T) {
	created := create(t, admin(t), environments, "", environment("bare", `{}`))
	required := created.Object["spec"].(map[string]any)["approval"].(map[string]any)["required"]
	if required != int64(1) {
		t.Errorf("an environment that says nothing takes %v approvals; want 1", required)
	}
}
