package dev_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
	"github.com/towpath-dev/towpath/internal/dev"
)

var (
	environments   = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "environments"}
	versions       = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "goldenpathversions"}
	changeRequests = schema.GroupVersionResource{Group: "towpath.dev", Version: "v1alpha1", Resource: "changerequests"}
	secrets        = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

func TestStateSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	first.offersABeginning(t)
	first.knowsPeople(t)
	passphrase := first.passphrase(t)
	if passphrase == "" {
		t.Error("there is no passphrase")
	}
	_, err := first.as(t, "developer").Resource(changeRequests).Namespace("shop").Create(t.Context(), proposal(), metav1.CreateOptions{})
	if err != nil {
		t.Errorf("a developer proposes: %v", err)
	}
	_, err = first.as(t, "platform").Resource(environments).Patch(t.Context(), "dev", types.MergePatchType,
		[]byte(`{"spec":{"displayName":"Playground"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Errorf("the platform team edits an environment: %v", err)
	}
	if err := dev.Run(t.Context(), options(t, dir, &strings.Builder{})); !errors.Is(err, controlplane.ErrInUse) {
		t.Errorf("a second instance ends with %v; want %v", err, controlplane.ErrInUse)
	}
	first.stop(t)

	again := start(t, dir)
	again.offersABeginning(t)
	if diff := cmp.Diff([]string{first.portal.URL, first.portal.Issuer}, []string{again.portal.URL, again.portal.Issuer}); diff != "" {
		t.Errorf("portal and issuer have moved:\n%s", diff)
	}
	again.signsPeopleIn(t)
	if again.passphrase(t) != passphrase {
		t.Error("the passphrase is another one after a restart")
	}
	_, err = again.as(t, "developer").Resource(changeRequests).Namespace("shop").Get(t.Context(), "orders-1", metav1.GetOptions{})
	if err != nil {
		t.Errorf("the change after a restart: %v", err)
	}
	environment, err := again.as(t, "developer").Resource(environments).Get(t.Context(), "dev", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, environment, "spec", "displayName"); got != "Playground" {
		t.Errorf("an edited environment is called %q after a restart; want Playground", got)
	}
	again.stop(t)
}

func TestAFailedControllerEndsEverything(t *testing.T) {
	broken := errors.New("broken")
	o := options(t, t.TempDir(), &strings.Builder{})
	o.Controller = func(context.Context, dev.Controller) error { return broken }
	o.Portal = func(ctx context.Context, _ dev.Portal) error {
		<-ctx.Done()
		return nil
	}
	if err := dev.Run(t.Context(), o); !errors.Is(err, broken) {
		t.Errorf("it ended with %v; want %v", err, broken)
	}
}

// session is a running `towpath dev`.
type session struct {
	dir        string
	controller dev.Controller
	portal     dev.Portal
	out        *strings.Builder // the session's until it has ended
	cancel     context.CancelFunc
	ended      chan error
}

// start starts everything in dir and returns when controller and portal run.
func start(t *testing.T, dir string) *session {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &session{dir: dir, out: &strings.Builder{}, cancel: cancel, ended: make(chan error, 1)}
	controllers, portals := make(chan dev.Controller, 1), make(chan dev.Portal, 1)
	o := options(t, dir, s.out)
	o.Controller = func(ctx context.Context, c dev.Controller) error {
		controllers <- c
		<-ctx.Done()
		return nil
	}
	o.Portal = func(ctx context.Context, p dev.Portal) error {
		portals <- p
		<-ctx.Done()
		return nil
	}
	go func() { s.ended <- dev.Run(ctx, o) }()
	for range 2 {
		select {
		case s.controller = <-controllers:
		case s.portal = <-portals:
		case err := <-s.ended:
			cancel()
			t.Fatalf("ended before controller and portal ran: %v", err)
		}
	}
	return s
}

// stop ends the session and checks that it told people how to go on.
func (s *session) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	if err := <-s.ended; err != nil {
		t.Fatalf("stop: %v", err)
	}
	for _, line := range []string{
		"  " + s.portal.URL + "\n",
		"  bin/towpath propose docs/examples/orders.yaml --role developer --dir " + s.dir + "\n",
		filepath.Join(s.dir, "kubeconfig", "approver2.kubeconfig"),
		"Stopped. Everything is kept in " + s.dir,
	} {
		if !strings.Contains(s.out.String(), line) {
			t.Errorf("it did not say %q but:\n%s", line, s.out)
		}
	}
}

// offersABeginning checks what a newcomer finds.
func (s *session) offersABeginning(t *testing.T) {
	t.Helper()
	developer := s.as(t, "developer")
	for kind, want := range map[schema.GroupVersionResource][]string{
		environments: {"default", "dev", "prod", "test"},
		versions:     {"postgres-1.0.0", "tenant-namespace-1.0.0", "web-service-1.0.0"},
	} {
		list, err := developer.Resource(kind).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range list.Items {
			got = append(got, item.GetName())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", kind.Resource, diff)
		}
	}
}

// knowsPeople checks that everybody can sign in, as nobody more than they are.
func (s *session) knowsPeople(t *testing.T) {
	t.Helper()
	for person, mayPropose := range map[string]bool{
		"developer": true, "developer2": true, "platform": false, "approver": false, "approver2": false,
	} {
		_, err := s.as(t, person).Resource(changeRequests).Namespace("shop").
			Create(t.Context(), proposal(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if (err == nil) != mayPropose || (err != nil && !apierrors.IsForbidden(err)) {
			t.Errorf("%s proposes: %v; may it: %v", person, err, mayPropose)
		}
		file, err := os.Stat(filepath.Join(s.dir, "kubeconfig", person+".kubeconfig"))
		if err != nil {
			t.Fatal(err)
		}
		if file.Mode().Perm() != 0o600 {
			t.Errorf("the kubeconfig of %s has mode %v", person, file.Mode())
		}
	}
}

// signsPeopleIn checks that the portal's issuer answers under its own name.
func (s *session) signsPeopleIn(t *testing.T) {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), s.portal.Issuer)
	if err != nil {
		t.Fatal(err)
	}
	if got := provider.Endpoint().AuthURL; !strings.HasPrefix(got, s.portal.Issuer+"/") {
		t.Errorf("people sign in at %s; want it to be of %s", got, s.portal.Issuer)
	}
}

// passphrase reads the team's passphrase as the controller does.
func (s *session) passphrase(t *testing.T) string {
	t.Helper()
	secret, err := client(t, s.controller.Config).Resource(secrets).Namespace("shop").Get(t.Context(), "pulumi-passphrase", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return text(t, secret, "data", "passphrase")
}

// as signs in with the person's kubeconfig.
func (s *session) as(t *testing.T, person string) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(s.dir, "kubeconfig", person+".kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	return client(t, config)
}

func options(t *testing.T, dir string, out *strings.Builder) dev.Options {
	t.Helper()
	bin, err := controlplanetest.Bin()
	if err != nil {
		t.Fatal(err)
	}
	return dev.Options{Program: "bin/towpath", Dir: dir, Toolchain: filepath.Dir(bin), Out: out}
}

func client(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func proposal() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "towpath.dev/v1alpha1",
		"kind":       "ChangeRequest",
		"metadata":   map[string]any{"name": "orders-1"},
		"spec": map[string]any{
			"service":      "orders",
			"program":      map[string]any{},
			"environments": []any{map[string]any{"name": "dev"}},
		},
	}}
}

func text(t *testing.T, object *unstructured.Unstructured, path ...string) string {
	t.Helper()
	value, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
