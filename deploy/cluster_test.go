package deploy_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

var cluster *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, func(c *controlplane.ControlPlane) {
		cluster = c
		config, err := c.AdminConfig()
		if err == nil {
			err = deploy.Install(context.Background(), config, func(string) {})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}))
}

var (
	changeRequests      = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "changerequests"}
	reviews             = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "reviews"}
	runs                = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "runs"}
	environments        = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "environments"}
	goldenPathVersions  = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "goldenpathversions"}
	programs            = schema.GroupVersionResource{Group: "pulumi.com", Version: "v1", Resource: "programs"}
	stacks              = schema.GroupVersionResource{Group: "pulumi.com", Version: "v1", Resource: "stacks"}
	controllerRevisions = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
	configMaps          = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets             = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	namespaces          = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	roles               = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	roleBindings        = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
	clusterRoles        = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
)

// person signs in as the user, a member of the groups.
func person(tb testing.TB, user string, groups ...string) *rest.Config {
	tb.Helper()
	config, err := cluster.UserConfig(user, groups...)
	if err != nil {
		tb.Fatal(err)
	}
	// The default of five requests a second is meant for a shared cluster.
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config
}

func client(tb testing.TB, config *rest.Config) dynamic.Interface {
	tb.Helper()
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// The people of the tests. The admin may do everything that RBAC decides.
func admin(tb testing.TB) dynamic.Interface {
	return client(tb, person(tb, "admin", "system:masters"))
}

func developer(tb testing.TB) dynamic.Interface { return client(tb, person(tb, "ana", "developer")) }
func approver(tb testing.TB) dynamic.Interface  { return client(tb, person(tb, "ben", "approver")) }
func controller(tb testing.TB) dynamic.Interface {
	return client(tb, person(tb, deploy.ControllerUser, "system:serviceaccounts"))
}

var teams atomic.Int64

// team creates a namespace in which developers and approvers have their roles.
func team(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("team-%d", teams.Add(1))
	create(tb, admin(tb), namespaces, "", `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`}}`)
	for _, role := range []string{"developer", "approver"} {
		bind(tb, name, "towpath-"+role, "{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "+role+"}")
	}
	awaitRight(tb, developer(tb), name, "create", "towpath.dev", "changerequests")
	awaitRight(tb, approver(tb), name, "review", "towpath.dev", "environments")
	return name
}

func bind(tb testing.TB, namespace, role, subject string) {
	tb.Helper()
	create(tb, admin(tb), roleBindings, namespace, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {generateName: `+role+`-}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: `+role+`}
subjects: [`+subject+`]`)
}

// awaitRight waits until RBAC has taken up what was bound.
func awaitRight(tb testing.TB, as dynamic.Interface, namespace, verb, group, resource string) {
	tb.Helper()
	awaitRightOn(tb, as, namespace, verb, group, resource, "")
}

func awaitRightOn(tb testing.TB, as dynamic.Interface, namespace, verb, group, resource, name string) {
	tb.Helper()
	err := wait.PollUntilContextTimeout(tb.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return may(tb, as, namespace, verb, group, resource, name), nil //nolint:contextcheck // the test's own context bounds both
	})
	if err != nil {
		tb.Fatalf("the right to %s %s in %s does not come: %v", verb, resource, namespace, err)
	}
}

// may asks whether the client's identity holds a right; resource may name a
// subresource.
func may(tb testing.TB, as dynamic.Interface, namespace, verb, group, resource, name string) bool {
	tb.Helper()
	resource, subresource, _ := strings.Cut(resource, "/")
	asked := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1",
		"kind":       "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{
			"namespace": namespace, "verb": verb, "group": group, "resource": resource, "subresource": subresource, "name": name,
		}},
	}}
	reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	answer, err := as.Resource(reviews).Create(tb.Context(), asked, metav1.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	if err != nil {
		tb.Fatal(err)
	}
	return allowed
}

func parse(tb testing.TB, text string) *unstructured.Unstructured {
	tb.Helper()
	var object unstructured.Unstructured
	if err := yaml.UnmarshalStrict([]byte(text), &object.Object); err != nil {
		tb.Fatalf("fixture: %v\n%s", err, text)
	}
	return &object
}

func create(tb testing.TB, as dynamic.Interface, kind schema.GroupVersionResource, namespace, text string) *unstructured.Unstructured {
	tb.Helper()
	created, err := as.Resource(kind).Namespace(namespace).Create(tb.Context(), parse(tb, text), metav1.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return created
}

// field reads a string field; it is "" if there is none.
func field(tb testing.TB, object *unstructured.Unstructured, path ...string) string {
	tb.Helper()
	value, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		tb.Fatal(err)
	}
	return value
}

// refusal compares an answer with the sentence that should be in it; with an
// empty sentence, the request should have passed.
func refusal(tb testing.TB, err error, sentence string) {
	tb.Helper()
	switch {
	case sentence == "" && err != nil:
		tb.Errorf("refused: %v", err)
	case sentence != "" && err == nil:
		tb.Errorf("passed; should be refused with %q", sentence)
	case sentence != "" && !strings.Contains(err.Error(), sentence):
		tb.Errorf("refused with %q; should say %q", err, sentence)
	}
}

// Fixtures: the smallest valid object of each kind.
const (
	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

	aChange = `
apiVersion: towpath.dev/v1alpha1
kind: ChangeRequest
metadata: {name: orders-1}
spec:
  service: orders
  program: {resources: {web: {type: "web-service:index:WebService", properties: {image: nginx}}}}
  environments: [{name: dev, config: {size: 1}}, {name: test}]`

	aReview = `
apiVersion: towpath.dev/v1alpha1
kind: Review
metadata: {name: review-1}
spec: {changeRequest: orders-1, environment: dev, planDigest: "` + digest + `", decision: Approve}`

	aComment = `
apiVersion: towpath.dev/v1alpha1
kind: Review
metadata: {name: comment-1}
spec: {changeRequest: orders-1, environment: dev, planDigest: "` + digest + `", decision: Comment, comment: "Why two?"}`

	aRun = `
apiVersion: towpath.dev/v1alpha1
kind: Run
metadata: {name: run-1}
spec:
  operation: Preview
  environment: dev
  service: orders
  stackName: orders-dev
  stack: {stack: organization/orders/dev}
  snapshot: orders-abc
  serviceAccountName: preview-dev`

	aStack = `
apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: orders-dev}
spec: {stack: organization/orders/dev, programRef: {name: orders}}`

	aProgram = `
apiVersion: pulumi.com/v1
kind: Program
metadata: {name: orders}
program: {resources: {web: {type: "web-service:index:WebService"}}}`

	aSnapshot = `
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: orders-abc, labels: {towpath.dev/service: orders}}
revision: 1
data: {program: {}}`
)
