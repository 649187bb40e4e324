// Package web is the portal in the browser: routes, middleware, handlers and the
// views that they make of API objects. Handlers decode, ask the cluster in the
// person's name and answer; they hold no HTML, which is in components, and no
// rules, which are in the controller and in admission.
package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/clock"
	"github.com/towpath-dev/towpath/web/auth"
	"github.com/towpath-dev/towpath/web/compose"
	"github.com/towpath-dev/towpath/web/kube"
)

// Cluster is what the portal reads and does, always as a person. What the person
// may not see is not found.
type Cluster interface {
	Changes(ctx context.Context, user kube.User) ([]*v1alpha1.ChangeRequest, error)
	Change(ctx context.Context, user kube.User, namespace, name string) (*kube.Change, error)
	Proposal(ctx context.Context, user kube.User, namespace, name string) (*v1alpha1.ChangeRequest, error)
	ReviewsBy(ctx context.Context, user kube.User) ([]*v1alpha1.Review, error)
	Services(ctx context.Context, user kube.User) ([]kube.Service, error)
	Service(ctx context.Context, user kube.User, namespace, name string) (*kube.ServiceHistory, error)
	Stacks(ctx context.Context, user kube.User, namespace, service string) ([]*pulumiv1.Stack, error)
	Run(ctx context.Context, user kube.User, namespace, name string) (*v1alpha1.Run, error)
	Program(ctx context.Context, user kube.User, namespace, name string) (*pulumiv1.Program, error)
	Environments(ctx context.Context, user kube.User) ([]v1alpha1.Environment, error)
	GoldenPaths(ctx context.Context, user kube.User) ([]v1alpha1.GoldenPath, []v1alpha1.GoldenPathVersion, error)
	Teams(ctx context.Context, user kube.User) ([]string, error)

	MayReview(ctx context.Context, user kube.User, namespace, environment string) (bool, error)
	MayComment(ctx context.Context, user kube.User, namespace string) (bool, error)
	MayPropose(ctx context.Context, user kube.User, namespace string) (bool, error)
	MayWithdraw(ctx context.Context, user kube.User, change *v1alpha1.ChangeRequest) (bool, error)

	Propose(ctx context.Context, user kube.User, change *v1alpha1.ChangeRequest, secrets []corev1.Secret) error
	Review(ctx context.Context, user kube.User, change *v1alpha1.ChangeRequest, spec v1alpha1.ReviewSpec) (*v1alpha1.Review, error)
	Withdraw(ctx context.Context, user kube.User, namespace, name string) error

	Subscribe(user kube.User, topic kube.Topic) (signal <-chan struct{}, end func(), err error)
	Ready(ctx context.Context) error
}

// Auth knows who is at the other end. Package auth has the real one.
type Auth interface {
	// Load puts the person of the session, if there is one, into the context.
	Load(next echo.HandlerFunc) echo.HandlerFunc
	// Require lets only people who are signed in go on.
	Require(next echo.HandlerFunc) echo.HandlerFunc
	SignIn(c echo.Context) error
	Callback(c echo.Context) error
	SignedIn(c echo.Context) error
	SignOut(c echo.Context) error
	SignedOut(c echo.Context) error
	// Valid reads the session of a context again, for streams that may outlive it.
	Valid(ctx context.Context) bool
}

// Config is what a Server is made of.
type Config struct {
	// PublicURL is the address that people type; requests for any other host are
	// refused.
	PublicURL *url.URL
	Cluster   Cluster
	// NewAuth makes the Auth, which draws its pages through the server.
	NewAuth func(auth.Pages) (Auth, error)
	// Sealer keeps secret values between the steps of the compose form.
	Sealer *compose.Sealer
	Clock  clock.Clock
	Log    *slog.Logger
	// Registry takes the server's metrics; MetricsHandler, if any, shows them
	// under /metrics.
	Registry       prometheus.Registerer
	MetricsHandler http.Handler
	// Development marks the pages as a portal for trying out, and adds the gallery
	// of components.
	Development bool
}

// Server answers browsers.
type Server struct {
	Config
	auth    Auth
	echo    *echo.Echo
	assets  map[string]asset
	metrics *metrics
	// closing is closed when streams must end.
	closing     chan struct{}
	closingOnce sync.Once
}

// New makes a Server; it serves nothing yet.
func New(config Config) (*Server, error) {
	files, err := loadAssets()
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(config.Registry)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: config, assets: files, metrics: m, echo: echo.New(), closing: make(chan struct{})}
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.Logger.SetOutput(io.Discard) // everything is logged by the middleware
	if s.auth, err = config.NewAuth(s); err != nil {
		return nil, err
	}
	s.middleware()
	s.routes()
	return s, nil
}

// Handler is the portal as one handler.
func (s *Server) Handler() http.Handler { return s.echo }

const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 60 * time.Second
	writeTimeout      = 60 * time.Second // lifted for streams
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	drainPatience     = 20 * time.Second
)

// Serve answers on a listener until ctx ends, and then lets open requests finish.
// With a TLS configuration it serves HTTPS.
func (s *Server) Serve(ctx context.Context, listener net.Listener, tlsConfig *tls.Config) error {
	server := &http.Server{
		Handler: s.Handler(), TLSConfig: tlsConfig,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:    slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	if tlsConfig != nil {
		listener = tls.NewListener(listener, tlsConfig)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the portal: %w", err)
	case <-ctx.Done():
	}
	s.closeStreams()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainPatience)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		return errors.Join(fmt.Errorf("stop the portal: %w", err), server.Close())
	}
	return nil
}

func (s *Server) closeStreams() { s.closingOnce.Do(func() { close(s.closing) }) }
