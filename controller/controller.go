// Package controller puts the reconcilers together into the embedded controller.
// It holds no logic of its own.
package controller

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	"gocloud.dev/blob"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/change"
	"github.com/towpath-dev/towpath/controller/run"
	"github.com/towpath-dev/towpath/controller/runner"
	"github.com/towpath-dev/towpath/controller/stack"
	"github.com/towpath-dev/towpath/internal/clock"
)

// digestKeySecret holds the key that secrets are digested with, in the system
// namespace. With another key every plan would be void.
const (
	digestKeySecret = "towpath-digest-key"
	digestKeyField  = "key"
)

// Options are what the controller needs.
type Options struct {
	// Config is the controller's own identity.
	Config *rest.Config
	// RunCluster is the API server that runs talk to; its credentials are not used.
	RunCluster *rest.Config
	// SystemNamespace is where Towpath itself lives.
	SystemNamespace string
	Launcher        runner.Launcher
	// Blobs keeps whole plans and logs.
	Blobs *blob.Bucket
	// Toolchain and PulumiHome are folders with the engine and its providers.
	Toolchain, PulumiHome string
	// Workers bounds how many runs are at work at once.
	Workers int
	// Holder names this instance.
	Holder string
	// LeaderElection lets one of several replicas reconcile.
	LeaderElection bool
	// MetricsAddress is where metrics are served; "0" serves none.
	MetricsAddress string
	Log            *slog.Logger
}

// Scheme knows every kind that Towpath handles.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, pulumiv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// Run reconciles until ctx ends. Runs that are at work then go on by themselves
// and are followed by whoever reconciles next.
func Run(ctx context.Context, o Options) error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(o.Log.Handler()))
	mgr, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: o.MetricsAddress}, HealthProbeBindAddress: "0",
		LeaderElection: o.LeaderElection, LeaderElectionID: "operator.pulumi.com", LeaderElectionNamespace: o.SystemNamespace,
	})
	if err != nil {
		return fmt.Errorf("set up the controller: %w", err)
	}
	live := mgr.GetAPIReader()
	direct, err := client.New(o.Config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("set up the controller: %w", err)
	}
	key, err := digestKey(ctx, direct, o.SystemNamespace)
	if err != nil {
		return err
	}
	for _, reconciler := range []interface{ SetupWithManager(ctrl.Manager) error }{
		&run.Reconciler{
			Client: mgr.GetClient(), Live: live, Launcher: o.Launcher, Blobs: o.Blobs,
			Jobs:  &run.Jobs{Client: direct, Cluster: o.RunCluster, DigestKey: key, Blobs: o.Blobs, Toolchain: o.Toolchain, PulumiHome: o.PulumiHome},
			Clock: clock.System{}, Log: o.Log, Holder: o.Holder, Workers: o.Workers,
		},
		&change.Reconciler{Client: mgr.GetClient(), Live: live, Health: change.KStatus{Reader: live}, Clock: clock.System{}, Log: o.Log},
		&stack.Reconciler{Client: mgr.GetClient(), Live: live, Clock: clock.System{}, Log: o.Log},
	} {
		if err := reconciler.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("set up the controller: %w", err)
		}
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run the controller: %w", err)
	}
	return nil
}

// digestKey reads the key, and makes one where there is none. Two replicas that
// do so at once agree on the one that was stored first.
func digestKey(ctx context.Context, c client.Client, namespace string) ([]byte, error) {
	secret := &corev1.Secret{}
	name := client.ObjectKey{Namespace: namespace, Name: digestKeySecret}
	err := c.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		key := make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("make the digest key: %w", err)
		}
		immutable := true
		secret = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: digestKeySecret},
			Immutable:  &immutable, Data: map[string][]byte{digestKeyField: key},
		}
		if err = c.Create(ctx, secret); apierrors.IsAlreadyExists(err) {
			err = c.Get(ctx, name, secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the digest key %s/%s: %w", namespace, digestKeySecret, err)
	}
	if len(secret.Data[digestKeyField]) < 32 {
		return nil, fmt.Errorf("read the digest key %s/%s: it has no 32 bytes under %q", namespace, digestKeySecret, digestKeyField)
	}
	return secret.Data[digestKeyField], nil
}
