package change

import (
	"context"
	"testing"
	"time"

	kwait "k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Each thing that can move a change wakes it: nobody waits for the next sweep.
func TestWhatWakesAChange(t *testing.T) {
	s := newScene(t)
	mgr, err := ctrl.NewManager(cluster.ControllerConfig(t), ctrl.Options{
		Scheme: cluster.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // the test may run again in this process
		// The changes of other tests are moved by those.
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	managed := *s.reconciler
	managed.Client, managed.Live = mgr.GetClient(), mgr.GetAPIReader()
	if err := managed.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	await := func(what, environment string, phase v1alpha1.StackPhase) v1alpha1.StackChange {
		t.Helper()
		var found v1alpha1.StackChange
		err := kwait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, sweep/2, true, func(ctx context.Context) (bool, error) {
			var cr v1alpha1.ChangeRequest
			err := s.admin.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "first"}, &cr)
			for _, sc := range cr.Status.Stacks {
				if sc.Environment == environment {
					found = sc
				}
			}
			return found.Phase == phase, err
		})
		if err != nil {
			t.Fatalf("%s does not bring %s to %s; it is %s: %+v", what, environment, phase, found.Phase, found.Waiting)
		}
		return found
	}

	network := &pulumiv1.Stack{Spec: pulumiv1.StackSpec{Stack: "acme/network", ProgramRef: &pulumiv1.ProgramReference{Name: "network"}}}
	network.Namespace, network.Name = s.namespace, "network"
	mine := &pulumiv1.Stack{Spec: pulumiv1.StackSpec{
		Stack: "organization/orders/test", Backend: "file:///state", ProgramRef: &pulumiv1.ProgramReference{Name: "orders"},
		Prerequisites: []pulumiv1.PrerequisiteRef{{Name: "network"}},
	}}
	mine.Namespace, mine.Name, mine.Labels = s.namespace, "orders-test", map[string]string{v1alpha1.EnvironmentLabel: "test"}
	s.has(network)
	s.has(mine)
	cr := &v1alpha1.ChangeRequest{Spec: v1alpha1.ChangeRequestSpec{Service: "orders", Program: content("a")}}
	cr.Namespace, cr.Name = s.namespace, "first"
	to("dev", "test")(&cr.Spec)
	if err := cluster.As(t, "ana", "developer").Create(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	test := await("a proposal", "test", v1alpha1.StackPreviewing)
	s.ends(test.Preview, v1alpha1.RunSucceeded)
	await("a Run", "test", v1alpha1.StackInReview)
	if err := cluster.As(t, "ben", "approver").Create(t.Context(), s.signed("first", "test", v1alpha1.Approve)); err != nil {
		t.Fatal(err)
	}
	await("a Review", "test", v1alpha1.StackApproved)
	s.ends(await("a proposal", "dev", v1alpha1.StackPreviewing).Preview, v1alpha1.RunSucceeded)
	s.ends(await("a Run", "dev", v1alpha1.StackApplying).Apply, v1alpha1.RunSucceeded)
	await("a Run", "dev", v1alpha1.StackApplied)
	network.Status.LastUpdate = &pulumiv1.StackUpdateState{Generation: network.Generation, Type: "up", State: "succeeded"}
	if err := s.admin.Status().Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	await("another Stack", "test", v1alpha1.StackApplying)
}
