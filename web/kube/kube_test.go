package kube_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
	"github.com/towpath-dev/towpath/internal/fault"
	"github.com/towpath-dev/towpath/web/kube"
)

var towpath *controlplanetest.Towpath

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.MainInstalled(m, func(t *controlplanetest.Towpath) { towpath = t }))
}

var (
	developer = kube.User{Username: "ana", Groups: []string{"developer"}}
	approver  = kube.User{Username: "ben", Groups: []string{"approver"}}
	outsider  = kube.User{Username: "eve", Groups: []string{"others"}}
)

// start is the portal's view of the cluster, with the portal's own rights.
func start(t *testing.T) *kube.Cluster {
	t.Helper()
	config := towpath.Config(t, deploy.PortalUser, "system:serviceaccounts", "system:serviceaccounts:"+deploy.Namespace)
	cluster, err := kube.New(config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- cluster.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	if err := cluster.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cluster
}

func change(namespace, name string) *v1alpha1.ChangeRequest {
	return &v1alpha1.ChangeRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ChangeRequestSpec{
			Service: "orders", Environments: []v1alpha1.EnvironmentProposal{{Name: "dev"}},
			Program: pulumiv1.ProgramSpec{Outputs: map[string]apiextensionsv1.JSON{"a": {Raw: []byte(`"b"`)}}},
		},
	}
}

func eventually(t *testing.T, what string, is func(ctx context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 20*time.Second, true, is); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestProposalsAreThePersonsOwn(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	secret := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "orders-dev-1"}, Data: map[string][]byte{"value": []byte("hunter2")}}
	proposed := change(team, "")
	proposed.Spec.Author = v1alpha1.Person{Username: "somebody-else"}
	if err := cluster.Propose(t.Context(), developer, proposed, []corev1.Secret{secret}); err != nil {
		t.Fatal(err)
	}
	var stored v1alpha1.ChangeRequest
	if err := towpath.Admin(t).Get(t.Context(), client.ObjectKeyFromObject(proposed), &stored); err != nil {
		t.Fatal(err)
	}
	if stored.Spec.Author.Username != "ana" {
		t.Errorf("the author is %q; want ana", stored.Spec.Author.Username)
	}
	if err := towpath.Admin(t).Get(t.Context(), client.ObjectKeyFromObject(&secret), &corev1.Secret{}); err != nil {
		t.Errorf("the Secret: %v", err)
	}
	eventually(t, "the cache has the change", func(ctx context.Context) (bool, error) {
		changes, err := cluster.Changes(ctx, developer)
		return len(changes) > 0, err
	})
	err := cluster.Propose(t.Context(), developer, change(team, ""), nil)
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("the same again: %v; want a conflict", err)
	}
	for name, user := range map[string]kube.User{"an approver": approver, "an outsider": outsider} {
		if err := cluster.Propose(t.Context(), user, change(team, ""), nil); !fault.Is(err, fault.Forbidden) && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s proposes: %v; want it forbidden", name, err)
		}
	}
}

// What the portal writes, it writes as people; of its own it has sessions alone.
func TestThePortalItselfMayLittle(t *testing.T) {
	t.Parallel()
	team := towpath.Team(t)
	portal := towpath.As(t, deploy.PortalUser, "system:serviceaccounts", "system:serviceaccounts:"+deploy.Namespace)
	secret := func(namespace string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "session-of-a-test"}}
	}
	for name, write := range map[string]func() error{
		"proposes":       func() error { return portal.Create(t.Context(), change(team, "orders-1")) },
		"writes Secrets": func() error { return portal.Create(t.Context(), secret(team)) },
		"reads Secrets":  func() error { return portal.List(t.Context(), &corev1.SecretList{}, client.InNamespace(team)) },
		"writes Programs": func() error {
			return portal.Create(t.Context(), &pulumiv1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "x"}})
		},
		"writes the rules": func() error {
			return portal.Create(t.Context(), &v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
		},
	} {
		if err := write(); !apierrors.IsForbidden(err) {
			t.Errorf("the portal itself %s: %v; want it forbidden", name, err)
		}
	}
	if err := portal.Create(t.Context(), secret(deploy.Namespace)); err != nil {
		t.Errorf("a session: %v", err)
	}
}

// The portal must never act as itself, as nobody, or as a part of Kubernetes.
func TestNobodyInParticularMayNothing(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	for name, user := range map[string]kube.User{
		"nobody":                     {},
		"a blank name":               {Username: " ", Groups: []string{"developer"}},
		"a service account":          {Username: "system:serviceaccount:towpath-system:towpath-controller"},
		"a system name in capitals":  {Username: "System:admin"},
		"a member of system:masters": {Username: "ana", Groups: []string{"developer", "system:masters"}},
		"a member of a blank group":  {Username: "ana", Groups: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := cluster.Propose(t.Context(), user, change(team, ""), nil); !fault.Is(err, fault.Forbidden) {
				t.Errorf("a proposal: %v; want it forbidden", err)
			}
			if _, err := cluster.Review(t.Context(), user, change(team, "x"), v1alpha1.ReviewSpec{}); !fault.Is(err, fault.Forbidden) {
				t.Errorf("a review: %v; want it forbidden", err)
			}
			if err := cluster.Withdraw(t.Context(), user, team, "x"); !fault.Is(err, fault.Forbidden) {
				t.Errorf("a withdrawal: %v; want it forbidden", err)
			}
			if _, err := cluster.Run(t.Context(), user, team, "x"); !fault.Is(err, fault.Forbidden) {
				t.Errorf("a look: %v; want it forbidden", err)
			}
		})
	}
}

func TestWhatOneMayNotSeeIsNotFound(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	cr := change(team, "orders-1")
	if err := towpath.As(t, "ana", "developer").Create(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	program := &pulumiv1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "orders"}}
	if err := towpath.Controller(t).Create(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cache has the service", func(ctx context.Context) (bool, error) {
		services, err := cluster.Services(ctx, developer)
		return len(services) > 0, err
	})
	for name, look := range map[string]func(user kube.User) error{
		"a change":  func(u kube.User) error { _, err := cluster.Change(t.Context(), u, team, "orders-1"); return err },
		"a service": func(u kube.User) error { _, err := cluster.Service(t.Context(), u, team, "orders"); return err },
		"a Program": func(u kube.User) error { _, err := cluster.Program(t.Context(), u, team, "orders"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := look(developer); err != nil {
				t.Errorf("a developer: %v", err)
			}
			hidden := look(outsider)
			if !fault.Is(hidden, fault.NotFound) {
				t.Errorf("an outsider: %v; want it not found", hidden)
			}
		})
	}
	missing, _ := fault.Message(func() error { _, err := cluster.Change(t.Context(), developer, team, "orders-2"); return err }())
	hidden, _ := fault.Message(func() error { _, err := cluster.Change(t.Context(), outsider, team, "orders-2"); return err }())
	if diff := cmp.Diff(missing, hidden); diff != "" {
		t.Errorf("hidden and missing differ:\n%s", diff)
	}
	changes, err := cluster.Changes(t.Context(), outsider)
	if err != nil || len(changes) > 0 {
		t.Errorf("an outsider's list: %d changes, %v", len(changes), err)
	}
}

func TestRightsThatAreTakenAwayAreGoneSoon(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "temp"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "towpath-developer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "tom"}},
	}
	tom := kube.User{Username: "tom"}
	if err := towpath.Admin(t).Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	may := func(ctx context.Context) (bool, error) { return cluster.MayPropose(ctx, tom, team) }
	eventually(t, "the right comes", may)
	if err := towpath.Admin(t).Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the right goes", func(ctx context.Context) (bool, error) {
		ok, err := may(ctx)
		return !ok, err
	})
}

func TestHundredsOfGroups(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	user := kube.User{Username: "ana"}
	for i := range 500 {
		user.Groups = append(user.Groups, fmt.Sprintf("group-with-quite-a-long-name-%d", i))
	}
	user.Groups = append(user.Groups, "developer")
	if err := cluster.Propose(t.Context(), user, change(team, ""), nil); err != nil {
		t.Error(err)
	}
}

func TestRefusalsAreSentences(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	cr := change(team, "orders-1")
	if err := towpath.As(t, "ana", "developer").Create(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	review := v1alpha1.ReviewSpec{ChangeRequest: cr.Name, Environment: "dev", PlanDigest: "sha256:" + strings.Repeat("0", 64), Decision: v1alpha1.Approve}
	_, err := cluster.Review(t.Context(), developer, cr, review)
	message, ok := fault.Message(err)
	if !ok || !fault.Is(err, fault.Forbidden) || !strings.Contains(message, "You may not review changes for environment dev") {
		t.Errorf("a developer who approves reads %q (%v)", message, err)
	}
	if strings.Contains(message, "ValidatingAdmissionPolicy") {
		t.Errorf("the words of the machinery are shown: %s", message)
	}
	err = cluster.Withdraw(t.Context(), outsider, team, cr.Name)
	if message, _ := fault.Message(err); !fault.Is(err, fault.Forbidden) || strings.Contains(message, "changerequests") {
		t.Errorf("an outsider who withdraws reads %q (%v)", message, err)
	}
}

func TestPagesHearOfWhatMoves(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	cr := change(team, "orders-1")
	if err := towpath.As(t, "ana", "developer").Create(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	signal, end, err := cluster.Subscribe(developer, kube.ChangeTopic(team, "orders-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	other, endOther, err := cluster.Subscribe(developer, kube.ChangeTopic(team, "orders-2"))
	if err != nil {
		t.Fatal(err)
	}
	defer endOther()
	hear := func(what string) {
		t.Helper()
		select {
		case <-signal:
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing is heard of %s", what)
		}
	}
	cr.Status.Phase = v1alpha1.ChangePreviewing
	if err := towpath.Controller(t).Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	hear("a change that moves")
	review := v1alpha1.ReviewSpec{ChangeRequest: cr.Name, Environment: "dev", PlanDigest: "sha256:" + strings.Repeat("0", 64), Decision: v1alpha1.Comment, Comment: "hm"}
	if _, err := cluster.Review(t.Context(), approver, cr, review); err != nil {
		t.Fatal(err)
	}
	hear("a review of it")
	select {
	case <-other:
		t.Error("another change's page hears of it too")
	default:
	}
}

func TestOnePersonCannotHoldAllStreams(t *testing.T) {
	t.Parallel()
	cluster := start(t)
	var ends []func()
	var err error
	for range 1000 {
		var end func()
		if _, end, err = cluster.Subscribe(developer, kube.RunTopic("a", "b")); err != nil {
			break
		}
		ends = append(ends, end)
	}
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("%d streams are open and no end: %v", len(ends), err)
	}
	if _, end, err := cluster.Subscribe(approver, kube.RunTopic("a", "b")); err != nil {
		t.Errorf("somebody else: %v", err)
	} else {
		end()
	}
	for _, end := range ends {
		end()
		end() // once is enough
	}
	if _, end, err := cluster.Subscribe(developer, kube.RunTopic("a", "b")); err != nil {
		t.Errorf("after all have ended: %v", err)
	} else {
		end()
	}
}

// A run that has ended is read once; one that moves is read as it is now.
func TestAChangeShowsItsRunsAsTheyAre(t *testing.T) {
	t.Parallel()
	cluster, team := start(t), towpath.Team(t)
	cr := change(team, "orders-1")
	if err := towpath.As(t, "ana", "developer").Create(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	run := func(name string, operation v1alpha1.Operation) *v1alpha1.Run {
		r := &v1alpha1.Run{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}, Spec: v1alpha1.RunSpec{
			Operation: operation, ChangeRequest: cr.Name, Environment: "dev", Service: "orders", StackName: "orders-dev",
			Snapshot: "orders-1", ServiceAccountName: "default",
		}}
		if err := towpath.Controller(t).Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	tell := func(object client.Object) {
		if err := towpath.Controller(t).Status().Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	preview, apply := run("preview", v1alpha1.Preview), run("apply", v1alpha1.Up)
	cr.Status.Stacks = []v1alpha1.StackChange{{Environment: "dev", Stack: "orders-dev", Phase: v1alpha1.StackApplying, Preview: preview.Name, Apply: apply.Name}}
	tell(cr)
	shown := func(is func(runs map[string]*v1alpha1.Run) bool) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			seen, err := cluster.Change(ctx, developer, team, cr.Name)
			return err == nil && is(seen.Runs), err
		}
	}
	log := &v1alpha1.RunLog{Lines: []v1alpha1.LogLine{{Time: metav1.Now(), Severity: "info", Text: "creating orders"}}}
	preview.Status = v1alpha1.RunStatus{Phase: v1alpha1.RunRunning, Log: log}
	tell(preview)
	eventually(t, "the log of a run that moves", shown(func(runs map[string]*v1alpha1.Run) bool {
		return runs["preview"] != nil && runs["preview"].Status.Log != nil
	}))
	preview.Status.Phase, preview.Status.Plan = v1alpha1.RunSucceeded, &v1alpha1.RunPlan{Steps: []v1alpha1.PlanStep{}}
	tell(preview)
	eventually(t, "the plan", shown(func(runs map[string]*v1alpha1.Run) bool {
		return runs["preview"].Status.Plan != nil
	}))
	preview.Status.Message = "mended by hand"
	tell(preview)
	eventually(t, "a kept run that changed after all", shown(func(runs map[string]*v1alpha1.Run) bool {
		return runs["preview"].Status.Message == "mended by hand"
	}))
	apply.Status = v1alpha1.RunStatus{Phase: v1alpha1.RunSucceeded, Outputs: map[string]apiextensionsv1.JSON{"url": {Raw: []byte(`"x"`)}}}
	tell(apply)
	eventually(t, "the outputs of an apply", shown(func(runs map[string]*v1alpha1.Run) bool {
		return len(runs["apply"].Status.Outputs) == 1
	}))
	if seen, err := cluster.Change(t.Context(), outsider, team, cr.Name); !fault.Is(err, fault.NotFound) {
		t.Errorf("an outsider sees %v, %v", seen, err)
	}
}
