package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/clock"
	"github.com/towpath-dev/towpath/internal/dev"
	"github.com/towpath-dev/towpath/web"
	"github.com/towpath-dev/towpath/web/auth"
	"github.com/towpath-dev/towpath/web/compose"
	"github.com/towpath-dev/towpath/web/kube"
)

// portal is what the portal needs to be told.
type portal struct {
	config   *rest.Config
	url      string
	listener net.Listener
	tls      *tls.Config
	signIn   auth.Config
	// namespace is where Towpath itself lives.
	namespace string
	// metrics shows metrics on the portal's own address.
	metrics     bool
	development bool
	log         *slog.Logger
}

// run serves the portal until ctx ends.
func (p portal) run(ctx context.Context) error {
	publicURL, err := url.Parse(p.url)
	if err != nil || publicURL.Host == "" {
		return fmt.Errorf("read the portal's address %q: it must consist of scheme and host", p.url)
	}
	cluster, err := kube.New(p.config, p.log)
	if err != nil {
		return err
	}
	sessions := rest.CopyConfig(p.config)
	// Sessions are read as often as people click; the default of five requests a
	// second is meant for a command line.
	sessions.QPS = -1
	core, err := corev1client.NewForConfig(sessions)
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	secrets := core.Secrets(p.namespace)
	key, err := auth.SharedKey(ctx, secrets)
	if err != nil {
		return err
	}
	sealer, err := compose.NewSealer(key)
	if err != nil {
		return err
	}
	signIn := p.signIn
	signIn.URL, signIn.Key, signIn.Store, signIn.Log = p.url, key, auth.NewSecrets(secrets), p.log
	var people *auth.Auth
	config := web.Config{
		PublicURL: publicURL, Cluster: cluster, Sealer: sealer, Clock: clock.System{}, Log: p.log,
		Registry: metrics.Registry, Development: p.development,
		NewAuth: func(pages auth.Pages) (web.Auth, error) {
			signIn.Pages = pages
			people, err = auth.New(ctx, signIn)
			return people, err
		},
	}
	if p.metrics {
		config.MetricsHandler = metricsHandler()
	}
	server, err := web.New(config)
	if err != nil {
		return err
	}
	return runAll(ctx, cluster.Start, people.Run, func(ctx context.Context) error {
		return server.Serve(ctx, p.listener, p.tls)
	})
}

func metricsHandler() http.Handler {
	return promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{})
}

// runAll runs parts side by side until ctx ends or one of them fails; then all of
// them are told to end, and awaited.
func runAll(ctx context.Context, parts ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, len(parts))
	for _, part := range parts {
		go func() {
			defer stop()
			ended <- part(ctx)
		}()
	}
	var err error
	for range parts {
		err = errors.Join(err, <-ended)
	}
	return err
}

// serveMetrics shows metrics on an address of their own until ctx ends.
func serveMetrics(ctx context.Context, address string) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metricsHandler())
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // a scrape that is cut off comes again
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics on %q: %w", address, err)
	}
	return nil
}

// runDevPortal runs the portal of towpath dev until ctx is cancelled.
func runDevPortal(ctx context.Context, d dev.Portal) error {
	return portal{
		config: d.Config, url: d.URL, listener: d.Listener, namespace: deploy.Namespace, metrics: true, development: true, log: d.Log,
		signIn: auth.Config{
			Issuer: d.Issuer, ClientID: d.ClientID, Scopes: []string{"profile"},
			Claims: auth.Claims{Username: "sub", Groups: "groups"},
		},
	}.run(ctx)
}
