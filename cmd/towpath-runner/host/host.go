// Package host serves golden paths to the Pulumi engine from inside the runner:
// one provider per package, attached by PULUMI_DEBUG_PROVIDERS in place of a
// plugin process. A component's children are named <instance>-<child>, so that a
// program may use a golden path more than once. It must not know clusters,
// backends or stacks, and a fault in a component must never end the runner.
package host

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/towpath-dev/towpath/controller/runner"
)

// Host serves the golden paths of one run.
type Host struct {
	loader    pulumiyaml.PackageLoader
	providers []*provider
	servers   []*rpcutil.ServeHandle
	cancel    chan bool
	warmed    sync.WaitGroup
}

// Start reads the golden paths and serves them until Close. Schemas of the
// packages that their components use come from the plugins in PULUMI_HOME and
// are cached there, beside the plugin.
func Start(ctx context.Context, paths []runner.HostedGoldenPath) (*Host, error) {
	h := &Host{cancel: make(chan bool)}
	if len(paths) == 0 {
		return h, nil
	}
	loader, err := pulumiyaml.NewPackageLoader(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("make a schema loader: %w", err)
	}
	h.loader = loader
	for _, path := range paths {
		if err := h.serve(path); err != nil {
			h.Close()
			return nil, err
		}
	}
	h.warm(ctx)
	return h, nil
}

func (h *Host) serve(path runner.HostedGoldenPath) error {
	p, err := newProvider(path, h.loader)
	if err != nil {
		return err
	}
	for _, other := range h.providers {
		if other.component.Package == p.component.Package {
			return fmt.Errorf("golden paths %s and %s are both package %s", other.path.Name, path.Name, p.component.Package)
		}
	}
	server, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: h.cancel,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterResourceProviderServer(server, p)
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("serve golden path %s: %w", path.Name, err)
	}
	h.providers = append(h.providers, p)
	h.servers = append(h.servers, &server)
	return nil
}

// warm loads the schemas that the components will need while the engine still
// starts. An error is left for the component that needs the schema to meet.
func (h *Host) warm(ctx context.Context) {
	packages := map[string]bool{}
	for _, p := range h.providers {
		for _, pkg := range p.uses {
			packages[pkg] = true
		}
	}
	for pkg := range packages {
		h.warmed.Go(func() {
			_, _ = h.loader.LoadPackage(ctx, &schema.PackageDescriptor{Name: pkg})
		})
	}
}

// Packages are the names of the packages that are served here.
func (h *Host) Packages() map[string]string {
	versions := make(map[string]string, len(h.providers))
	for _, p := range h.providers {
		versions[p.component.Package] = p.path.Version
	}
	return versions
}

// Attach is the value of PULUMI_DEBUG_PROVIDERS that attaches the engine.
func (h *Host) Attach() string {
	attach := make([]string, len(h.providers))
	for i, p := range h.providers {
		attach[i] = p.component.Package + ":" + strconv.Itoa(h.servers[i].Port)
	}
	return strings.Join(attach, ",")
}

// Close ends the servers and what the schema loader has started.
func (h *Host) Close() {
	close(h.cancel)
	for _, server := range h.servers {
		<-server.Done //nolint:errcheck // the run is over
	}
	for _, p := range h.providers {
		p.close()
	}
	h.warmed.Wait()
	if h.loader != nil {
		h.loader.Close()
	}
}
