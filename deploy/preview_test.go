package deploy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

const (
	aConfigMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}`

	aDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}`

	aPod = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: nginx}]}`
)

var (
	deployments     = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	pods            = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	allDryRun       = []string{metav1.DryRunAll}
)

// The preview identity is given every right that RBAC knows, so that only the
// policy stands between it and an effect.
func TestThePreviewIdentityOnlyDryRuns(t *testing.T) {
	const refused = "A preview may only look and dry-run"
	for name, test := range map[string]struct {
		try     func(t *testing.T, as dynamic.Interface, raw rest.Interface, namespace string) error
		refused string
	}{
		"it reads": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(deployments).Namespace(namespace).Get(t.Context(), "web", metav1.GetOptions{})
			return err
		}, ""},
		"it dry-runs a creation": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(configMaps).Namespace(namespace).Create(t.Context(), parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}`), metav1.CreateOptions{DryRun: allDryRun})
			return err
		}, ""},
		"it dry-runs an apply": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(deployments).Namespace(namespace).Apply(t.Context(), "web", parse(t, aDeployment), metav1.ApplyOptions{FieldManager: "pulumi", Force: true, DryRun: allDryRun})
			return err
		}, ""},
		"it dry-runs a deletion": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			return as.Resource(deployments).Namespace(namespace).Delete(t.Context(), "web", metav1.DeleteOptions{DryRun: allDryRun})
		}, ""},
		"it asks what it may do": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			review := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
			_, err := as.Resource(review).Create(t.Context(), parse(t, `{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: get, resource: pods}}}`), metav1.CreateOptions{})
			return err
		}, ""},
		"it creates nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(configMaps).Namespace(namespace).Create(t.Context(), parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}`), metav1.CreateOptions{})
			return err
		}, refused},
		"it applies nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(deployments).Namespace(namespace).Apply(t.Context(), "web", parse(t, aDeployment), metav1.ApplyOptions{FieldManager: "pulumi", Force: true})
			return err
		}, refused},
		"it updates nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(configMaps).Namespace(namespace).Update(t.Context(), parse(t, aConfigMap), metav1.UpdateOptions{})
			return err
		}, refused},
		"it patches nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(configMaps).Namespace(namespace).Patch(t.Context(), "settings", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{})
			return err
		}, refused},
		"it deletes nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			return as.Resource(configMaps).Namespace(namespace).Delete(t.Context(), "settings", metav1.DeleteOptions{})
		}, refused},
		"it deletes no collection": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			return as.Resource(configMaps).Namespace(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
		}, refused},
		"it writes no status": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(deployments).Namespace(namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"status":{"replicas":9}}`), metav1.PatchOptions{}, "status")
			return err
		}, refused},
		"it scales nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(deployments).Namespace(namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":9}}`), metav1.PatchOptions{}, "scale")
			return err
		}, refused},
		"it evicts nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(pods).Namespace(namespace).Create(t.Context(), parse(t, `{apiVersion: policy/v1, kind: Eviction, metadata: {name: web}}`), metav1.CreateOptions{}, "eviction")
			return err
		}, refused},
		"it binds no pod to a node": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(pods).Namespace(namespace).Create(t.Context(), parse(t, `{apiVersion: v1, kind: Binding, metadata: {name: web}, target: {kind: Node, name: worker}}`), metav1.CreateOptions{}, "binding")
			return err
		}, refused},
		"it gets no token of a service account": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(serviceAccounts).Namespace(namespace).Create(t.Context(), parse(t, `{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, metadata: {name: default}, spec: {audiences: []}}`), metav1.CreateOptions{}, "token")
			return err
		}, refused},
		"it runs no command in a pod": {func(t *testing.T, _ dynamic.Interface, raw rest.Interface, namespace string) error {
			return raw.Post().AbsPath("/api/v1/namespaces", namespace, "pods/web/exec").Param("command", "ls").Param("stdout", "true").Do(t.Context()).Error()
		}, refused},
		"it runs no command in a pod that it calls a dry run": {func(t *testing.T, _ dynamic.Interface, raw rest.Interface, namespace string) error {
			return raw.Post().AbsPath("/api/v1/namespaces", namespace, "pods/web/exec").Param("command", "ls").Param("stdout", "true").Param("dryRun", "All").Do(t.Context()).Error()
		}, "dryRun is not supported"},
		"it attaches to no pod": {func(t *testing.T, _ dynamic.Interface, raw rest.Interface, namespace string) error {
			return raw.Post().AbsPath("/api/v1/namespaces", namespace, "pods/web/attach").Param("stdout", "true").Do(t.Context()).Error()
		}, refused},
		"it forwards no port": {func(t *testing.T, _ dynamic.Interface, raw rest.Interface, namespace string) error {
			return raw.Post().AbsPath("/api/v1/namespaces", namespace, "pods/web/portforward").Do(t.Context()).Error()
		}, refused},
		"it opens no proxy to a pod": {func(t *testing.T, _ dynamic.Interface, raw rest.Interface, namespace string) error {
			return raw.Get().AbsPath("/api/v1/namespaces", namespace, "pods/web/proxy/").Do(t.Context()).Error()
		}, refused},
		"it grants no role": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(roleBindings).Namespace(namespace).Create(t.Context(), parse(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: grab}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}`), metav1.CreateOptions{})
			return err
		}, refused},
		"it proposes nothing": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(changeRequests).Namespace(namespace).Create(t.Context(), parse(t, aChange), metav1.CreateOptions{})
			return err
		}, refused},
		"it changes no namespace": {func(t *testing.T, as dynamic.Interface, _ rest.Interface, namespace string) error {
			_, err := as.Resource(namespaces).Patch(t.Context(), namespace, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
			return err
		}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := team(t)
			create(t, admin(t), serviceAccounts, namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}`)
			create(t, admin(t), configMaps, namespace, aConfigMap)
			create(t, admin(t), deployments, namespace, aDeployment)
			create(t, admin(t), pods, namespace, aPod)
			config := person(t, "system:serviceaccount:"+namespace+":preview-dev", "system:serviceaccounts", "system:serviceaccounts:"+namespace)
			bind(t, namespace, "cluster-admin", "{kind: ServiceAccount, name: preview-dev, namespace: "+namespace+"}")
			awaitRight(t, client(t, config), namespace, "create", "", "pods/exec")

			err := test.try(t, client(t, config), rawClient(t, config), namespace)
			refusal(t, err, test.refused)
		})
	}
}

// A dry run under the previewer's own role is what the Kubernetes provider does.
func TestThePreviewersRoleIsEnoughForADryRun(t *testing.T) {
	namespace := team(t)
	create(t, admin(t), serviceAccounts, namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}`)
	bind(t, namespace, "towpath-previewer", "{kind: ServiceAccount, name: preview-dev, namespace: "+namespace+"}")
	as := client(t, person(t, "system:serviceaccount:"+namespace+":preview-dev", "system:serviceaccounts"))
	awaitRight(t, as, namespace, "patch", "apps", "deployments")

	_, err := as.Resource(deployments).Namespace(namespace).Apply(t.Context(), "web", parse(t, aDeployment), metav1.ApplyOptions{FieldManager: "pulumi", DryRun: allDryRun})
	refusal(t, err, "")
	_, err = as.Resource(deployments).Namespace(namespace).Apply(t.Context(), "web", parse(t, aDeployment), metav1.ApplyOptions{FieldManager: "pulumi"})
	refusal(t, err, "A preview may only look and dry-run")
	_, err = as.Resource(namespaces).Get(t.Context(), "kube-system", metav1.GetOptions{})
	refusal(t, err, "")
}

func rawClient(tb testing.TB, config *rest.Config) rest.Interface {
	tb.Helper()
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
