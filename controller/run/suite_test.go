package run

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/controller/runner/runnertest"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

var cluster *controlplanetest.Towpath

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.MainInstalled(m, func(t *controlplanetest.Towpath) { cluster = t }))
}

// scene is a team with a Program's snapshot, and a reconciler that the test moves
// by hand. Its runners live in memory.
type scene struct {
	testing.TB
	namespace  string
	reconciler *Reconciler
	launcher   *runnertest.Fake
	clock      *hands
	blobs      *blob.Bucket
	controller client.Client
	admin      client.Client
	snapshot   string
}

// hands is a clock that the test sets.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }

// content is the Program of the snapshot.
var content = pulumiv1.ProgramSpec{Outputs: map[string]apiextensionsv1.JSON{"a": {Raw: []byte(`"b"`)}}}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		TB: t, namespace: cluster.Team(t), launcher: &runnertest.Fake{}, clock: &hands{time.Now().Truncate(time.Second)},
		blobs: memblob.OpenBucket(nil), controller: cluster.Controller(t), admin: cluster.Admin(t),
		snapshot: program.SnapshotName("orders", content),
	}
	t.Cleanup(func() {
		if err := s.blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	s.reconciler = &Reconciler{
		Client: s.controller, Live: s.controller, Launcher: s.launcher, Blobs: s.blobs, Clock: s.clock,
		Log: slog.New(slog.DiscardHandler), Holder: "one", Workers: 1000,
		Jobs: &Jobs{
			Client: s.controller, Cluster: cluster.ControllerConfig(t), Blobs: s.blobs, DigestKey: []byte("key"),
			Toolchain: "/toolchain", PulumiHome: "/pulumi",
		},
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	s.has(&corev1.ServiceAccount{ObjectMeta: s.meta("preview-dev")})
	if err := s.controller.Create(t.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.snapshot, Labels: map[string]string{v1alpha1.ServiceLabel: "orders"}},
		Data:       runtime.RawExtension{Raw: text}, Revision: 1,
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *scene) has(object client.Object) {
	s.Helper()
	if err := s.admin.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// wants creates a run as the change's reconciler does.
func (s *scene) wants(name string, edits ...func(*v1alpha1.Run)) *v1alpha1.Run {
	s.Helper()
	run := &v1alpha1.Run{
		ObjectMeta: s.meta(name),
		Spec: v1alpha1.RunSpec{
			Operation: v1alpha1.Preview, Environment: "dev", Service: "orders", StackName: "orders-dev", Snapshot: s.snapshot,
			ServiceAccountName: "preview-dev", Inputs: map[string]string{"program": "sha256:p"},
			Stack: pulumiv1.StackSpec{Stack: "organization/orders/dev", Backend: "file:///state"},
		},
	}
	run.Labels = map[string]string{v1alpha1.StackKeyLabel: s.namespace + "." + name}
	for _, edit := range edits {
		edit(run)
	}
	if err := s.controller.Create(s.Context(), run); err != nil {
		s.Fatal(err)
	}
	return run
}

func onKey(key string) func(*v1alpha1.Run) {
	return func(run *v1alpha1.Run) { run.Labels[v1alpha1.StackKeyLabel] = key }
}

func doing(operation v1alpha1.Operation) func(*v1alpha1.Run) {
	return func(run *v1alpha1.Run) { run.Spec.Operation = operation }
}

// look has the reconciler look at a run once, and returns the run.
func (s *scene) look(name string) *v1alpha1.Run {
	s.Helper()
	if _, err := s.reconciler.Reconcile(s.Context(), s.request(name)); err != nil {
		s.Fatal(err)
	}
	return s.run(name)
}

func (s *scene) request(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKey{Namespace: s.namespace, Name: name}}
}

func (s *scene) run(name string) *v1alpha1.Run {
	s.Helper()
	var run v1alpha1.Run
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &run); err != nil {
		s.Fatal(err)
	}
	return &run
}

func (s *scene) cancel(name string) {
	s.Helper()
	run := s.run(name)
	run.Spec.Cancel = true
	if err := s.controller.Update(s.Context(), run); err != nil {
		s.Fatal(err)
	}
}

// stands is a run in a line.
func stands(run *v1alpha1.Run) string {
	retry := ""
	if run.Status.Retryable {
		retry = " It is tried again."
	}
	return fmt.Sprintf("%s: %s%s", run.Status.Phase, run.Status.Message, retry)
}
