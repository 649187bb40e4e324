package change

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

var cluster *controlplanetest.Towpath

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.MainInstalled(m, func(t *controlplanetest.Towpath) { cluster = t }))
}

// scene is a team with a reconciler that the test moves by hand. The engine is the
// test, which writes what Runs come to.
type scene struct {
	testing.TB
	reconciler *Reconciler
	namespace  string
	clock      *hands
	health     *doctor
	// controller is the reconciler's own client, admin may do everything.
	controller, admin client.Client
}

// hands is a clock that the test sets.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }

// doctor says of everything that it is as the test says.
type doctor struct {
	health  Health
	message string
	asked   []v1alpha1.ObjectReference
}

func (d *doctor) Check(_ context.Context, objects []v1alpha1.ObjectReference) (Health, string, error) {
	d.asked = objects
	return d.health, d.message, nil
}

func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	s := &scene{
		TB: t, namespace: cluster.Team(t), clock: &hands{time.Now()}, health: &doctor{health: Healthy},
		controller: cluster.Controller(t), admin: cluster.Admin(t),
	}
	s.reconciler = &Reconciler{
		Client: s.controller, Live: s.controller, Health: s.health, Clock: s.clock,
		Log: slog.New(slog.DiscardHandler),
	}
	for _, environment := range []v1alpha1.Environment{
		environment("dev", func(e *v1alpha1.EnvironmentSpec) {
			e.AutoApprove = []v1alpha1.AutoApproveRule{{Expression: "plan.delete == 0", Reason: "Nothing is deleted"}}
		}),
		environment("test", func(e *v1alpha1.EnvironmentSpec) {
			e.After, e.Freshness = []v1alpha1.EnvironmentName{"dev"}, &metav1.Duration{Duration: 24 * time.Hour}
		}),
		environment("prod", func(e *v1alpha1.EnvironmentSpec) { e.After = []v1alpha1.EnvironmentName{"test"} }),
	} {
		s.has(&environment)
	}
	return s
}

func environment(name string, edit func(*v1alpha1.EnvironmentSpec)) v1alpha1.Environment {
	e := v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.EnvironmentSpec{
		Approval: v1alpha1.ApprovalRule{Required: 1}, StackTemplate: v1alpha1.StackTemplate{Backend: "file:///state"},
	}}
	edit(&e.Spec)
	return e
}

// has creates an object as the admin, unless it is there.
func (s *scene) has(object client.Object) {
	s.Helper()
	if err := s.admin.Create(s.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatal(err)
	}
}

// content is a Program that sets one value.
func content(value string) pulumiv1.ProgramSpec {
	return pulumiv1.ProgramSpec{
		Configuration: map[string]pulumiv1.Configuration{"size": {Type: "Number", Default: &apiextensionsv1.JSON{Raw: []byte("1")}}},
		Resources: map[string]pulumiv1.Resource{"settings": {
			Type:       "kubernetes:core/v1:ConfigMap",
			Properties: map[string]apiextensionsv1.JSON{"data": {Raw: []byte(`{"value":"` + value + `"}`)}},
		}},
	}
}

func to(environments ...v1alpha1.EnvironmentName) func(*v1alpha1.ChangeRequestSpec) {
	return func(spec *v1alpha1.ChangeRequestSpec) {
		spec.Environments = nil
		for _, name := range environments {
			spec.Environments = append(spec.Environments, v1alpha1.EnvironmentProposal{Name: name})
		}
	}
}

// propose proposes a change of service orders in ana's name, for dev, test and
// prod, and has the reconciler look at it.
func (s *scene) propose(name string, edits ...func(*v1alpha1.ChangeRequestSpec)) *v1alpha1.ChangeRequest {
	s.Helper()
	cr := &v1alpha1.ChangeRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       v1alpha1.ChangeRequestSpec{Service: "orders", Program: content(name)},
	}
	to("dev", "test", "prod")(&cr.Spec)
	for _, edit := range edits {
		edit(&cr.Spec)
	}
	if err := cluster.As(s, "ana", "developer").Create(s.Context(), cr); err != nil {
		s.Fatal(err)
	}
	return s.look(name)
}

// look has the reconciler look at a change until it has nothing more to do.
func (s *scene) look(name string) *v1alpha1.ChangeRequest {
	s.Helper()
	for range 20 {
		before := s.changeRequest(name)
		if _, err := s.reconciler.Reconcile(s.Context(), s.request(name)); err != nil {
			s.Fatal(err)
		}
		if after := s.changeRequest(name); after.ResourceVersion == before.ResourceVersion {
			return after
		}
	}
	s.Fatal("the reconciler does not come to rest")
	return nil
}

func (s *scene) request(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKey{Namespace: s.namespace, Name: name}}
}

func (s *scene) get(name string, into client.Object) {
	s.Helper()
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, into); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) changeRequest(name string) *v1alpha1.ChangeRequest {
	s.Helper()
	var cr v1alpha1.ChangeRequest
	s.get(name, &cr)
	return &cr
}

func (s *scene) run(name string) *v1alpha1.Run {
	s.Helper()
	var run v1alpha1.Run
	s.get(name, &run)
	return &run
}

// runs are all runs of the team with this operation.
func (s *scene) runs(operation v1alpha1.Operation) []v1alpha1.Run {
	s.Helper()
	var list v1alpha1.RunList
	if err := s.admin.List(s.Context(), &list, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	var found []v1alpha1.Run
	for _, run := range list.Items {
		if run.Spec.Operation == operation {
			found = append(found, run)
		}
	}
	return found
}

// in is how a change stands in an environment.
func in(tb testing.TB, cr *v1alpha1.ChangeRequest, environment string) v1alpha1.StackChange {
	tb.Helper()
	for _, sc := range cr.Status.Stacks {
		if sc.Environment == environment {
			return sc
		}
	}
	tb.Fatalf("the change is not in %s: %+v", environment, cr.Status)
	return v1alpha1.StackChange{}
}

// ends writes how a run ended, as the run's reconciler does.
func (s *scene) ends(name string, phase v1alpha1.RunPhase, edits ...func(*v1alpha1.RunStatus)) {
	s.Helper()
	run := s.run(name)
	now := metav1.NewTime(s.clock.now)
	run.Status = v1alpha1.RunStatus{Phase: phase, Message: "It is " + string(phase) + ".", FinishedAt: &now}
	if phase == v1alpha1.RunSucceeded {
		// The digest is of what was previewed, not of the run that did it.
		run.Status.PlanDigest = program.DigestOf([]any{run.Spec.Inputs, run.Spec.StackName})
		run.Status.EffectDigest, run.Status.Inputs = program.DigestOf("effect"), run.Spec.Inputs
		run.Status.Summary = &v1alpha1.PlanSummary{Create: 1, Text: "1 to create"}
		run.Status.Objects = []v1alpha1.ObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"}}
	}
	for _, edit := range edits {
		edit(&run.Status)
	}
	if err := s.controller.Status().Update(s.Context(), run); err != nil {
		s.Fatal(err)
	}
}

func retryable(status *v1alpha1.RunStatus) { status.Retryable = true }

// previewed ends the previews that a change waits for, and looks again.
func (s *scene) previewed(name string, edits ...func(*v1alpha1.RunStatus)) *v1alpha1.ChangeRequest {
	s.Helper()
	for _, sc := range s.changeRequest(name).Status.Stacks {
		if sc.Phase == v1alpha1.StackPreviewing {
			s.ends(sc.Preview, v1alpha1.RunSucceeded, edits...)
		}
	}
	return s.look(name)
}

// applied ends the apply in an environment, and looks again.
func (s *scene) applied(name, environment string) *v1alpha1.ChangeRequest {
	s.Helper()
	sc := in(s, s.changeRequest(name), environment)
	if sc.Apply == "" {
		s.Fatalf("nothing is applied in %s: %+v", environment, sc)
	}
	s.ends(sc.Apply, v1alpha1.RunSucceeded)
	return s.look(name)
}

// signed is a review of the current plan for an environment, as it is to be
// created.
func (s *scene) signed(name, environment string, decision v1alpha1.Decision) *v1alpha1.Review {
	s.Helper()
	sc := in(s, s.changeRequest(name), environment)
	if sc.Plan == nil {
		s.Fatalf("there is no plan for %s: %+v", environment, sc)
	}
	return &v1alpha1.Review{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, GenerateName: "review-"},
		Spec: v1alpha1.ReviewSpec{
			ChangeRequest: name, Environment: v1alpha1.EnvironmentName(environment),
			PlanDigest: sc.Plan.Digest, Decision: decision, Comment: "Seen.",
		},
	}
}

// reviews writes a review as an approver, has the reconciler look, and returns
// what became of the review and the change.
func (s *scene) reviews(user string, review *v1alpha1.Review) (*v1alpha1.ChangeRequest, v1alpha1.ReviewStatus) {
	s.Helper()
	if err := cluster.As(s, user, "approver", "developer").Create(s.Context(), review); err != nil {
		s.Fatal(err)
	}
	cr := s.look(review.Spec.ChangeRequest)
	s.get(review.Name, review)
	return cr, review.Status
}

// approved has ben approve the plan for an environment.
func (s *scene) approved(name, environment string) *v1alpha1.ChangeRequest {
	s.Helper()
	cr, _ := s.reviews("ben", s.signed(name, environment, v1alpha1.Approve))
	return cr
}
