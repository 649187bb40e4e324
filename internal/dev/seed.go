package dev

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/deploy"
)

const (
	// team is the namespace of the team's changes, Programs and Stacks.
	team = "shop"
	// stateFolder holds the Pulumi state, below the folder of all state.
	stateFolder = "state"

	passphraseSecret = "pulumi-passphrase"
	passphraseKey    = "passphrase"
)

// kinds are those that the seed and the catalogue consist of.
var kinds = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(rbacv1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}()

// seed creates what a newcomer begins with: environments, the team's namespaces
// and who may do what in them. What is there already is left as it is, so that
// people may change it; above all the passphrase, which the state is encrypted
// with.
func seed(ctx context.Context, applier *deploy.Applier, stateDir string) error {
	objects := []runtime.Object{
		namespace(team),
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: passphraseSecret},
			StringData: map[string]string{passphraseKey: rand.Text()},
		},
		bindCluster("towpath-platform", groupPlatform),
		bind(team, "towpath-developer", group(groupDeveloper)),
		bind(team, "towpath-approver", group(groupApprover)),
		bind(team, "towpath-viewer", group(groupPlatform)),
	}
	for _, environment := range environments(stateDir) {
		objects = append(objects, &environment)
		if environment.Name != v1alpha1.DefaultEnvironment {
			objects = append(objects, target(environment.Name)...)
		}
	}
	for _, object := range objects {
		o, err := untyped(object)
		if err != nil {
			return err
		}
		if _, err := applier.CreateMissing(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// target is the namespace that the team's services run in, in one environment,
// with the identities that apply and preview there.
func target(environment string) []runtime.Object {
	where, deployer, previewer := team+"-"+environment, "deploy-"+environment, "preview-"+environment
	return []runtime.Object{
		namespace(where),
		serviceAccount(deployer),
		serviceAccount(previewer),
		bind(where, "towpath-deployer", account(deployer)),
		bind(where, "towpath-previewer", account(previewer)),
		bind(where, "view", group(groupDeveloper), group(groupApprover), group(groupPlatform)),
	}
}

func namespace(name string) runtime.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func serviceAccount(name string) runtime.Object {
	automount := false
	return &corev1.ServiceAccount{
		ObjectMeta:                   metav1.ObjectMeta{Namespace: team, Name: name},
		AutomountServiceAccountToken: &automount,
	}
}

func bind(namespace, role string, subjects ...rbacv1.Subject) runtime.Object {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    clusterRole(role),
		Subjects:   subjects,
	}
}

func bindCluster(role, to string) runtime.Object {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    clusterRole(role),
		Subjects:   []rbacv1.Subject{group(to)},
	}
}

func clusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

func group(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name}
}

func account(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: team, Name: name}
}

// untyped turns an object into what an Applier takes.
func untyped(object runtime.Object) (*unstructured.Unstructured, error) {
	names, _, err := kinds.ObjectKinds(object)
	if err != nil {
		return nil, fmt.Errorf("name the kind of %T: %w", object, err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert %T: %w", object, err)
	}
	// Status is never the creator's to write.
	delete(fields, "status")
	o := &unstructured.Unstructured{Object: fields}
	o.SetGroupVersionKind(names[0])
	return o, nil
}
