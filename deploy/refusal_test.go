package deploy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// fixture is an object that is there before the attack.
type fixture struct {
	by     func(testing.TB) dynamic.Interface
	kind   schema.GroupVersionResource
	object string
}

// attack is one request; exactly one of create, patch and delete is set.
type attack struct {
	as          func(testing.TB) dynamic.Interface
	create      string
	patch       string
	remove      bool
	kind        schema.GroupVersionResource
	name        string
	subresource []string
}

func (a attack) try(t *testing.T, namespace string) error {
	t.Helper()
	resource := a.as(t).Resource(a.kind).Namespace(namespace)
	switch {
	case a.create != "":
		_, err := resource.Create(t.Context(), parse(t, a.create), metav1.CreateOptions{})
		return err
	case a.patch != "":
		_, err := resource.Patch(t.Context(), a.name, types.MergePatchType, []byte(a.patch), metav1.PatchOptions{}, a.subresource...)
		return err
	default:
		return resource.Delete(t.Context(), a.name, metav1.DeleteOptions{})
	}
}

// asGarbageCollector is the identity that deletes what lost its owner.
func asGarbageCollector(tb testing.TB) dynamic.Interface {
	return client(tb, person(tb, "system:serviceaccount:kube-system:generic-garbage-collector", "system:masters"))
}

func otherDeveloper(tb testing.TB) dynamic.Interface {
	return client(tb, person(tb, "cleo", "developer"))
}

const owner = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`

func TestRecordsHold(t *testing.T) {
	change := fixture{developer, changeRequests, aChange}
	review := fixture{approver, reviews, aReview}
	run := fixture{controller, runs, aRun}
	snapshot := fixture{controller, controllerRevisions, aSnapshot}
	foreignRevision := fixture{admin, controllerRevisions, `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: db-1}, revision: 1, data: {}}`}
	stack := fixture{developer, stacks, aStack}
	labelled := fixture{developer, stacks, `
apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: orders-prod, labels: {towpath.dev/environment: prod}}
spec: {stack: organization/orders/prod}`}
	tokenSecret := func(account string) string {
		return `
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: token, annotations: {kubernetes.io/service-account.name: ` + account + `}}`
	}

	for name, test := range map[string]struct {
		given   []fixture
		attack  attack
		refused string // "": it passes
	}{
		// Changes.
		"an author may withdraw": {
			[]fixture{change}, attack{as: developer, kind: changeRequests, name: "orders-1", patch: `{"spec":{"withdrawn":true}}`}, "",
		},
		"an approver may withdraw somebody's change": {
			[]fixture{change}, attack{as: approver, kind: changeRequests, name: "orders-1", patch: `{"spec":{"withdrawn":true}}`}, "",
		},
		"another developer may not withdraw it": {
			[]fixture{change},
			attack{as: otherDeveloper, kind: changeRequests, name: "orders-1", patch: `{"spec":{"withdrawn":true}}`},
			"Only the author may withdraw a change",
		},
		"a program is not swapped under its reviewers": {
			[]fixture{change},
			attack{as: developer, kind: changeRequests, name: "orders-1", patch: `{"spec":{"program":{"resources":{"web":{"properties":{"image":"evil"}}}}}}`},
			"A proposal does not change once it is made",
		},
		"config is not swapped under its reviewers": {
			[]fixture{change},
			attack{as: admin, kind: changeRequests, name: "orders-1", patch: `{"spec":{"environments":[{"name":"dev","config":{"size":9}},{"name":"test"}]}}`},
			"A proposal does not change once it is made",
		},
		"an environment is not added afterwards": {
			[]fixture{change},
			attack{as: developer, kind: changeRequests, name: "orders-1", patch: `{"spec":{"environments":[{"name":"prod"}]}}`},
			"A proposal does not change once it is made",
		},
		"a description is not added afterwards": {
			[]fixture{change},
			attack{as: developer, kind: changeRequests, name: "orders-1", patch: `{"spec":{"description":"harmless"}}`},
			"A proposal does not change once it is made",
		},
		"an author does not slip out of a change": {
			[]fixture{change},
			attack{as: developer, kind: changeRequests, name: "orders-1", patch: `{"spec":{"author":{"username":"cleo"}}}`},
			"A proposal does not change once it is made",
		},
		"not even the controller changes a proposal": {
			[]fixture{change},
			attack{as: controller, kind: changeRequests, name: "orders-1", patch: `{"spec":{"author":{"username":"cleo"}}}`},
			"A proposal does not change once it is made",
		},
		"a change does not get an owner that can be deleted": {
			[]fixture{change},
			attack{as: developer, kind: changeRequests, name: "orders-1", patch: owner},
			"Only the controller may give a change request an owner reference",
		},
		"a change is not created with such an owner": {
			nil,
			attack{as: developer, kind: changeRequests, create: `
apiVersion: towpath.dev/v1alpha1
kind: ChangeRequest
metadata: {name: orders-1, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: "1"}]}
spec: {service: orders, program: {}, environments: [{name: dev}]}`},
			"Only the controller may give a change request an owner reference",
		},
		"a developer does not delete a change": {
			[]fixture{change}, attack{as: developer, kind: changeRequests, name: "orders-1", remove: true}, "cannot delete resource",
		},
		"an administrator does not write a change's verdict": {
			[]fixture{change},
			attack{as: admin, kind: changeRequests, name: "orders-1", patch: `{"status":{"phase":"Applied"}}`, subresource: []string{"status"}},
			"The status of changerequests can only be written by the Towpath controller.",
		},
		"the controller writes a change's verdict": {
			[]fixture{change}, attack{as: controller, kind: changeRequests, name: "orders-1", patch: `{"status":{"phase":"Previewing"}}`, subresource: []string{"status"}}, "",
		},

		// Reviews.
		"an approver approves": {nil, attack{as: approver, kind: reviews, create: aReview}, ""},
		"a developer may not approve": {
			nil,
			attack{as: developer, kind: reviews, create: aReview},
			`that takes the verb review on environments.towpath.dev "dev"`,
		},
		"a developer may comment": {nil, attack{as: developer, kind: reviews, create: aComment}, ""},
		"a review is not rewritten": {
			[]fixture{review},
			attack{as: admin, kind: reviews, name: "review-1", patch: `{"spec":{"decision":"Reject","comment":"no"}}`},
			"a Review is immutable",
		},
		"a review is not relabelled": {
			[]fixture{review},
			attack{as: admin, kind: reviews, name: "review-1", patch: `{"metadata":{"labels":{"a":"b"}}}`},
			"A Review is immutable",
		},
		"a review does not get an owner that can be deleted": {
			[]fixture{review}, attack{as: admin, kind: reviews, name: "review-1", patch: owner}, "A Review is immutable",
		},
		"a review is not moved to another plan, by the controller either": {
			[]fixture{review},
			attack{as: controller, kind: reviews, name: "review-1", patch: `{"spec":{"environment":"prod"}}`},
			"a Review is immutable",
		},
		"a review is not deleted": {
			[]fixture{review}, attack{as: admin, kind: reviews, name: "review-1", remove: true}, "A Review cannot be deleted",
		},
		"a review goes with its change": {
			[]fixture{review}, attack{as: asGarbageCollector, kind: reviews, name: "review-1", remove: true}, "",
		},
		"an administrator does not make a review count": {
			[]fixture{review},
			attack{as: admin, kind: reviews, name: "review-1", patch: `{"status":{"counts":true}}`, subresource: []string{"status"}},
			"The status of reviews can only be written by the Towpath controller.",
		},
		"the controller says whether a review counts": {
			[]fixture{review}, attack{as: controller, kind: reviews, name: "review-1", patch: `{"status":{"counts":true}}`, subresource: []string{"status"}}, "",
		},

		// Runs and snapshots.
		"an administrator does not start a run": {
			nil, attack{as: admin, kind: runs, create: aRun}, "Runs can only be written by the Towpath controller.",
		},
		"an administrator does not change a run": {
			[]fixture{run}, attack{as: admin, kind: runs, name: "run-1", patch: `{"spec":{"cancel":true}}`}, "Runs can only be written by the Towpath controller.",
		},
		"an administrator does not delete a run": {
			[]fixture{run}, attack{as: admin, kind: runs, name: "run-1", remove: true}, "Runs can only be written by the Towpath controller.",
		},
		"an administrator does not write a run's result": {
			[]fixture{run},
			attack{as: admin, kind: runs, name: "run-1", patch: `{"status":{"phase":"Succeeded"}}`, subresource: []string{"status"}},
			"The status of runs can only be written by the Towpath controller.",
		},
		"a run goes with its change": {
			[]fixture{run}, attack{as: asGarbageCollector, kind: runs, name: "run-1", remove: true}, "",
		},
		"the controller cancels a run": {
			[]fixture{run}, attack{as: controller, kind: runs, name: "run-1", patch: `{"spec":{"cancel":true}}`}, "",
		},
		"the controller does not change what a run is": {
			[]fixture{run},
			attack{as: controller, kind: runs, name: "run-1", patch: `{"spec":{"serviceAccountName":"deploy-prod"}}`},
			"A Run does not change once it is created",
		},
		"a snapshot is not made by hand": {
			nil, attack{as: admin, kind: controllerRevisions, create: aSnapshot}, "Snapshots of Programs",
		},
		"a snapshot does not lose its label": {
			[]fixture{snapshot}, attack{as: admin, kind: controllerRevisions, name: "orders-abc", patch: `{"metadata":{"labels":null}}`}, "Snapshots of Programs",
		},
		"a snapshot is not deleted by hand": {
			[]fixture{snapshot}, attack{as: admin, kind: controllerRevisions, name: "orders-abc", remove: true}, "Snapshots of Programs",
		},
		"a snapshot goes with its Program": {
			[]fixture{snapshot}, attack{as: asGarbageCollector, kind: controllerRevisions, name: "orders-abc", remove: true}, "",
		},
		"other people's revisions are left alone": {
			[]fixture{foreignRevision}, attack{as: admin, kind: controllerRevisions, name: "db-1", remove: true}, "",
		},
		"somebody's revision does not become a snapshot": {
			[]fixture{foreignRevision},
			attack{as: admin, kind: controllerRevisions, name: "db-1", patch: `{"metadata":{"labels":{"towpath.dev/service":"orders"}}}`},
			"Snapshots of Programs",
		},

		// Environments of Stacks.
		"a Stack does not move to laxer rules": {
			[]fixture{labelled},
			attack{as: admin, kind: stacks, name: "orders-prod", patch: `{"metadata":{"labels":{"towpath.dev/environment":"dev"}}}`},
			"A Stack stays in its environment",
		},
		"a Stack does not leave its environment": {
			[]fixture{labelled},
			attack{as: developer, kind: stacks, name: "orders-prod", patch: `{"metadata":{"labels":null}}`},
			"A Stack stays in its environment",
		},
		"the controller may move a Stack": {
			[]fixture{labelled}, attack{as: controller, kind: stacks, name: "orders-prod", patch: `{"metadata":{"labels":{"towpath.dev/environment":"dev"}}}`}, "",
		},
		"a developer does not take a Stack out of the default rules": {
			[]fixture{stack},
			attack{as: developer, kind: stacks, name: "orders-dev", patch: `{"metadata":{"labels":{"towpath.dev/environment":"dev"}}}`},
			"takes the verb update on that environment",
		},
		"who owns an environment may put a Stack into it": {
			[]fixture{stack}, attack{as: admin, kind: stacks, name: "orders-dev", patch: `{"metadata":{"labels":{"towpath.dev/environment":"dev"}}}`}, "",
		},
		"other labels of a Stack are free": {
			[]fixture{labelled}, attack{as: developer, kind: stacks, name: "orders-prod", patch: `{"metadata":{"labels":{"team":"a"}}}`}, "",
		},
		"a Stack may be created in an environment": {
			nil, attack{as: developer, kind: stacks, create: labelled.object}, "",
		},

		// Secrets.
		"a developer writes secret config": {
			nil, attack{as: developer, kind: secrets, create: `{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: hush}}`}, "",
		},
		"a developer does not come by the identity that applies": {
			nil,
			attack{as: developer, kind: secrets, create: tokenSecret("deploy-prod")},
			"A token Secret for service account deploy-prod takes the verb create on serviceaccounts/token.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := team(t)
			for _, given := range test.given {
				create(t, given.by(t), given.kind, namespace, given.object)
			}
			refusal(t, test.attack.try(t, namespace), test.refused)
		})
	}
}

// The admission policies of a namespace's review right must not leak into
// another one, or to another environment.
func TestTheRightToReviewHoldsWhereItWasGranted(t *testing.T) {
	here, elsewhere := team(t), team(t)
	create(t, admin(t), roles, here, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reviews-test}
rules: [{apiGroups: [towpath.dev], resources: [environments], resourceNames: [test], verbs: [review]}]`)
	create(t, admin(t), roleBindings, here, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reviews-test}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reviews-test}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ana}]`)
	awaitRightOn(t, developer(t), here, "review", "towpath.dev", "environments", "test")
	if may(t, developer(t), here, "review", "towpath.dev", "environments", "prod") {
		t.Fatal("the fixture grants too much")
	}

	for name, test := range map[string]struct {
		namespace, environment, decision string
		refused                          string
	}{
		"the environment named in the Role": {here, "test", "Approve", ""},
		"a rejection takes the same right":  {here, "dev", "Reject", "You may not review changes for environment dev"},
		"another environment":               {here, "prod", "Approve", "You may not review changes for environment prod"},
		"another namespace":                 {elsewhere, "test", "Approve", "You may not review changes for environment test in namespace " + elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			object := parse(t, aReview)
			object.SetName("review-" + test.environment)
			object.Object["spec"].(map[string]any)["environment"] = test.environment
			object.Object["spec"].(map[string]any)["decision"] = test.decision
			object.Object["spec"].(map[string]any)["comment"] = "seen"
			_, err := developer(t).Resource(reviews).Namespace(test.namespace).Create(t.Context(), object, metav1.CreateOptions{})
			refusal(t, err, test.refused)
		})
	}
}

func TestPublishedVersionsHold(t *testing.T) {
	for name, test := range map[string]struct {
		stage   string
		patch   string // "": delete
		refused string
	}{
		"a draft may change":                    {"Draft", `{"spec":{"component":"other"}}`, ""},
		"a draft may be published":              {"Draft", `{"spec":{"stage":"Published"}}`, ""},
		"a draft may be deleted":                {"Draft", "", ""},
		"a published component holds":           {"Published", `{"spec":{"component":"other"}}`, "is Published and no longer changes"},
		"a published digest holds":              {"Published", `{"spec":{"digest":"sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}}`, "is Published and no longer changes"},
		"a published surface gains no input":    {"Published", `{"spec":{"inputs":[{"name":"a","type":"string"}]}}`, "is Published and no longer changes"},
		"a published surface loses no output":   {"Published", `{"spec":{"outputs":null}}`, "is Published and no longer changes"},
		"content does not change with a stage":  {"Published", `{"spec":{"stage":"Deprecated","component":"other"}}`, "is Published and no longer changes"},
		"a published version may be deprecated": {"Published", `{"spec":{"stage":"Deprecated"}}`, ""},
		"a published version is no draft again": {"Published", `{"spec":{"stage":"Draft"}}`, "cannot become Draft again"},
		"a retired version does not come back":  {"Retired", `{"spec":{"stage":"Published"}}`, "cannot become Published again"},
		"a published version is not deleted":    {"Published", "", "only a Draft or a Retired version can be deleted"},
		"a deprecated version is not deleted":   {"Deprecated", "", "only a Draft or a Retired version can be deleted"},
		"a retired version may be deleted":      {"Retired", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			golden := team(t) // a name that no other test uses
			platform := client(t, person(t, "pam", "system:masters"))
			created := create(t, platform, goldenPathVersions, "", `
apiVersion: towpath.dev/v1alpha1
kind: GoldenPathVersion
metadata: {name: `+golden+`-1.0.0}
spec:
  goldenPath: `+golden+`
  version: 1.0.0
  stage: `+test.stage+`
  token: `+golden+`:index:Thing
  component: one
  digest: `+digest+`
  outputs: [{name: url, type: string}]`)
			versions := platform.Resource(goldenPathVersions)
			var err error
			if test.patch == "" {
				err = versions.Delete(t.Context(), created.GetName(), metav1.DeleteOptions{})
			} else {
				_, err = versions.Patch(t.Context(), created.GetName(), types.MergePatchType, []byte(test.patch), metav1.PatchOptions{})
			}
			refusal(t, err, test.refused)
		})
	}
}
