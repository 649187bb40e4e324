package controlplanetest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane"
)

// Towpath is a control plane that Towpath is installed in, without its
// controller: a test moves that itself.
type Towpath struct {
	plane  *controlplane.ControlPlane
	scheme *runtime.Scheme
	teams  atomic.Int64

	mu      sync.Mutex
	clients map[string]client.WithWatch // by who they are; each has asked what kinds there are
}

// MainInstalled is Main with Towpath installed.
func MainInstalled(m *testing.M, use func(*Towpath)) int {
	return Main(m, func(plane *controlplane.ControlPlane) {
		t := &Towpath{plane: plane, scheme: runtime.NewScheme(), clients: map[string]client.WithWatch{}}
		err := t.install(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		use(t)
	})
}

func (t *Towpath) install(ctx context.Context) error {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, pulumiv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(t.scheme); err != nil {
			return err
		}
	}
	config, err := t.plane.AdminConfig()
	if err != nil {
		return err
	}
	return deploy.Install(ctx, config, func(string) {})
}

// Scheme knows every kind that Towpath handles.
func (t *Towpath) Scheme() *runtime.Scheme { return t.scheme }

// Config signs in as the user, a member of the groups.
func (t *Towpath) Config(tb testing.TB, user string, groups ...string) *rest.Config {
	tb.Helper()
	config, err := t.plane.UserConfig(user, groups...)
	if err != nil {
		tb.Fatal(err)
	}
	// The default of five requests a second is meant for a shared cluster.
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config
}

// As is a client of the user, a member of the groups.
func (t *Towpath) As(tb testing.TB, user string, groups ...string) client.WithWatch {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	name := strings.Join(append([]string{user}, groups...), ",")
	if t.clients[name] == nil {
		c, err := client.NewWithWatch(t.Config(tb, user, groups...), client.Options{Scheme: t.scheme})
		if err != nil {
			tb.Fatal(err)
		}
		t.clients[name] = c
	}
	return t.clients[name]
}

// Admin may do everything that RBAC decides.
func (t *Towpath) Admin(tb testing.TB) client.WithWatch {
	tb.Helper()
	return t.As(tb, "admin", "system:masters")
}

// ControllerConfig signs in as the controller.
func (t *Towpath) ControllerConfig(tb testing.TB) *rest.Config {
	tb.Helper()
	return t.Config(tb, deploy.ControllerUser, "system:serviceaccounts")
}

// Controller is the controller's own client.
func (t *Towpath) Controller(tb testing.TB) client.WithWatch {
	tb.Helper()
	return t.As(tb, deploy.ControllerUser, "system:serviceaccounts")
}

// Team creates a namespace in which the group developer may propose and the group
// approver may review.
func (t *Towpath) Team(tb testing.TB) string {
	tb.Helper()
	admin, name := t.Admin(tb), fmt.Sprintf("team-%d", t.teams.Add(1))
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	for _, role := range []string{"developer", "approver"} {
		objects = append(objects, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "towpath-" + role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: role}},
		})
	}
	for _, object := range objects {
		if err := admin.Create(tb.Context(), object); err != nil {
			tb.Fatal(err)
		}
	}
	t.awaitRight(tb, "approver", name, "review", "environments")
	t.awaitRight(tb, "developer", name, "create", "changerequests")
	return name
}

// awaitRight waits until RBAC has taken up what was bound.
func (t *Towpath) awaitRight(tb testing.TB, group, namespace, verb, resource string) {
	tb.Helper()
	admin := t.Admin(tb)
	err := wait.PollUntilContextTimeout(tb.Context(), 10*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "somebody", Groups: []string{group},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: v1alpha1.GroupVersion.Group, Resource: resource},
		}}
		err := admin.Create(ctx, asked)
		return asked.Status.Allowed, err
	})
	if err != nil {
		tb.Fatalf("the right to %s %s in %s does not come: %v", verb, resource, namespace, err)
	}
}
