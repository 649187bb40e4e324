// Package kube is how the portal reads and writes the Kubernetes API. It reads
// with the portal's own identity, through a cache, and hands on only what the
// signed-in person may read; it writes as that person, so that RBAC and admission
// judge the person and not the portal. It knows nothing of HTTP and decides
// nothing about changes.
package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/towpath-dev/towpath/controller"
	"github.com/towpath-dev/towpath/internal/fault"
)

// Cluster is the portal's view of one cluster.
type Cluster struct {
	config *rest.Config
	http   *http.Client
	// cached answers from memory. What it returns is shared: it must not be changed.
	cached cache.Cache
	// live asks the API server, with the portal's own identity.
	live    client.Client
	runs    *runs
	access  *access
	updates *updates
	log     *slog.Logger
}

// New prepares a Cluster for the API server of config, which signs in as the
// portal. Nothing can be read before Start.
func New(config *rest.Config, log *slog.Logger) (*Cluster, error) {
	scheme, err := controller.Scheme()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	// The API server's own fairness is the limit; the default of five requests a
	// second would let one reader hold up all others.
	config.QPS = -1
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	packed := newPackedRuns()
	cached, err := newCache(config, cache.Options{Scheme: scheme, HTTPClient: httpClient, Mapper: mapper}, packed)
	if err != nil {
		return nil, err
	}
	live, err := client.New(config, client.Options{Scheme: scheme, HTTPClient: httpClient, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &Cluster{
		config: config, http: httpClient, cached: cached, live: live,
		runs: &runs{cached: cached, live: live, packed: packed}, access: newAccess(live), updates: newUpdates(), log: log,
	}, nil
}

// Client writes and reads with the portal's own identity, for what is the
// portal's own, such as sessions.
func (c *Cluster) Client() client.Client { return c.live }

// Start fills the cache and keeps it current until ctx ends.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.watch(ctx); err != nil {
		return err
	}
	go func() {
		if c.cached.WaitForCacheSync(ctx) {
			// The first lists came whole: many times what is kept of them.
			debug.FreeOSMemory()
		}
	}()
	if err := c.cached.Start(ctx); err != nil {
		return fmt.Errorf("keep the cache: %w", err)
	}
	return nil
}

// readyPatience is how long a readiness check waits for the API server.
const readyPatience = 3 * time.Second

// Ready reports what keeps the portal from answering, nil if nothing does.
func (c *Cluster) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	if !c.cached.WaitForCacheSync(ctx) {
		return errors.New("the cache is not filled yet")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.config.Host+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask the API server whether it is ready: %w", err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("ask the API server whether it is ready: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the API server whether it is ready: it answered %d", response.StatusCode)
	}
	return nil
}

// User is the person that the portal acts for.
type User struct {
	Username string
	Groups   []string
}

// notFound is the answer for what does not exist and for what a person may not
// see: the two must look alike.
func notFound(what, namespace, name string) error {
	return fault.New(fault.NotFound, nil, "There is no %s %s in %s, or you may not see it.", what, name, namespace)
}
