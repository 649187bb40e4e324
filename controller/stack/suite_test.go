package stack

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

var cluster *controlplanetest.Towpath

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.MainInstalled(m, func(t *controlplanetest.Towpath) { cluster = t }))
}

// scene is a team with a reconciler that the test moves by hand.
type scene struct {
	testing.TB
	namespace         string
	reconciler        *Reconciler
	clock             *hands
	controller, admin client.Client
}

// hands is a clock that the test sets.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }

func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	s := &scene{
		TB: t, namespace: cluster.Team(t), clock: &hands{time.Now().Add(time.Minute)},
		controller: cluster.Controller(t), admin: cluster.Admin(t),
	}
	s.reconciler = &Reconciler{Client: s.controller, Live: s.controller, Clock: s.clock, Log: slog.New(slog.DiscardHandler)}
	return s
}

func content(value string) pulumiv1.ProgramSpec {
	return pulumiv1.ProgramSpec{Resources: map[string]pulumiv1.Resource{"settings": {
		Type:       "kubernetes:core/v1:ConfigMap",
		Properties: map[string]apiextensionsv1.JSON{"data": {Raw: []byte(`{"value":"` + value + `"}`)}},
	}}}
}

// program is service orders with content a.
func (s *scene) program() *pulumiv1.Program {
	p := &pulumiv1.Program{Program: content("a")}
	p.Namespace, p.Name = s.namespace, "orders"
	return p
}

func (s *scene) stack(environment string, edits ...func(*pulumiv1.Stack)) *pulumiv1.Stack {
	stack := &pulumiv1.Stack{Spec: pulumiv1.StackSpec{Stack: "organization/orders/" + environment, ProgramRef: &pulumiv1.ProgramReference{Name: "orders"}}}
	stack.Namespace, stack.Name = s.namespace, "orders-"+environment
	stack.Labels = map[string]string{v1alpha1.EnvironmentLabel: environment}
	for _, edit := range edits {
		edit(stack)
	}
	return stack
}

// writes creates objects as somebody.
func (s *scene) writes(as client.Client, objects ...client.Object) {
	s.Helper()
	for _, object := range objects {
		if err := as.Create(s.Context(), object); err != nil {
			s.Fatal(err)
		}
	}
}

// edits updates an object as somebody.
func (s *scene) edits(as client.Client, object client.Object) {
	s.Helper()
	if err := as.Update(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// look has the reconciler look at a Stack once.
func (s *scene) look(environment string) ctrl.Result {
	s.Helper()
	result, err := s.reconciler.Reconcile(s.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: s.namespace, Name: "orders-" + environment}})
	if err != nil {
		s.Fatal(err)
	}
	return result
}

func (s *scene) get(name string, into client.Object) {
	s.Helper()
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, into); err != nil {
		s.Fatal(err)
	}
}

// changes are those that are there.
func (s *scene) changes() []v1alpha1.ChangeRequest {
	s.Helper()
	var list v1alpha1.ChangeRequestList
	if err := s.admin.List(s.Context(), &list, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// ends gives a change a phase, as its reconciler does.
func (s *scene) ends(cr v1alpha1.ChangeRequest, phase v1alpha1.ChangePhase) {
	s.Helper()
	cr.Status.Phase = phase
	if err := s.controller.Status().Update(s.Context(), &cr); err != nil {
		s.Fatal(err)
	}
}

// settled takes the marks of edits off, as a change does that comes through.
func (s *scene) settled(object client.Object) {
	s.Helper()
	s.get(object.GetName(), object)
	object.SetAnnotations(nil)
	s.edits(s.controller, object)
}
