package host

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	sdkprovider "github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/towpath-dev/towpath/controller/runner"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

// provider is one golden path as the engine sees it: a component provider.
type provider struct {
	pulumirpc.UnimplementedResourceProviderServer

	path      runner.HostedGoldenPath
	component *goldenpaths.Component
	schema    string
	uses      []string
	loader    pulumiyaml.PackageLoader

	// engines are the connections to the engines that attached; the last is the
	// one that works now. Earlier ones are kept: an instance under construction
	// may still use them.
	mu      sync.Mutex
	address string
	engines []*grpc.ClientConn
}

func newProvider(path runner.HostedGoldenPath, loader pulumiyaml.PackageLoader) (*provider, error) {
	component, err := goldenpaths.ParseComponent(path.Component)
	if err != nil {
		return nil, fmt.Errorf("read golden path %s@%s: %w", path.Name, path.Version, err)
	}
	if component.Token != path.Token {
		return nil, fmt.Errorf("golden path %s@%s is %s, not %s", path.Name, path.Version, component.Token, path.Token)
	}
	schema, err := component.Schema(path.Version)
	if err != nil {
		return nil, fmt.Errorf("golden path %s@%s: %w", path.Name, path.Version, err)
	}
	template, err := parse(path.Component)
	if err != nil {
		return nil, fmt.Errorf("read golden path %s@%s: %w", path.Name, path.Version, err)
	}
	return &provider{
		path: path, component: component, schema: string(schema), uses: packagesOf(template), loader: loader,
	}, nil
}

// Construct makes an instance of the golden path.
func (p *provider) Construct(
	ctx context.Context, req *pulumirpc.ConstructRequest,
) (_ *pulumirpc.ConstructResponse, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = status.Errorf(codes.Internal, "golden path %s@%s, instance %s: its component cannot be evaluated: %v\n%s",
				p.path.Name, p.path.Version, req.GetName(), r, debug.Stack())
		}
	}()
	engine := p.connection()
	if engine == nil {
		return nil, status.Error(codes.FailedPrecondition, "the engine is not attached")
	}
	// What a golden path makes depends on its inputs alone.
	req.Config, req.ConfigSecretKeys = nil, nil
	resp, err := p.build(ctx, req, engine)
	if err != nil {
		return nil, status.Errorf(codes.Unknown, "golden path %s@%s, instance %s: %v",
			p.path.Name, p.path.Version, req.GetName(), plain(err))
	}
	return resp, nil
}

func (p *provider) build(
	ctx context.Context, req *pulumirpc.ConstructRequest, engine *grpc.ClientConn,
) (*pulumirpc.ConstructResponse, error) {
	inputs, err := plainInputs(req.GetInputs())
	if err != nil {
		return nil, err
	}
	text, err := p.component.Expand(req.GetName(), inputs)
	if err != nil {
		return nil, err
	}
	template, err := parse(text)
	if err != nil {
		return nil, err
	}
	nameChildren(template, req.GetName())
	return sdkprovider.Construct(ctx, req, engine, func(
		ctx *pulumi.Context, token, instance string, inputs sdkprovider.ConstructInputs, opts pulumi.ResourceOption,
	) (*sdkprovider.ConstructResult, error) {
		values, err := inputs.Map()
		if err != nil {
			return nil, fmt.Errorf("read inputs: %w", err)
		}
		urn, state, err := pulumiyaml.RunComponentTemplate(ctx, token, instance, opts, template, values, p.loader)
		if err != nil {
			return nil, plain(err)
		}
		return &sdkprovider.ConstructResult{URN: urn, State: state}, nil
	})
}

// Handshake connects to the engine.
func (p *provider) Handshake(
	_ context.Context, req *pulumirpc.ProviderHandshakeRequest,
) (*pulumirpc.ProviderHandshakeResponse, error) {
	if err := p.connect(req.GetEngineAddress()); err != nil {
		return nil, err
	}
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true}, nil
}

// Attach connects to the engine.
func (p *provider) Attach(_ context.Context, req *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	if err := p.connect(req.GetAddress()); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// GetSchema gives the package schema that the component declares.
func (p *provider) GetSchema(
	_ context.Context, req *pulumirpc.GetSchemaRequest,
) (*pulumirpc.GetSchemaResponse, error) {
	if version := req.GetVersion(); version != 0 {
		return nil, status.Errorf(codes.InvalidArgument, "schema version %d is not supported", version)
	}
	return &pulumirpc.GetSchemaResponse{Schema: p.schema}, nil
}

// GetPluginInfo gives the golden path's version.
func (p *provider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: p.path.Version}, nil
}

// CheckConfig accepts what it is given: a golden path has no provider config.
func (p *provider) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: req.GetNews()}, nil
}

// DiffConfig finds no difference, for the same reason.
func (p *provider) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
}

// Configure says what the host can pass.
func (p *provider) Configure(
	context.Context, *pulumirpc.ConfigureRequest,
) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{
		AcceptSecrets: true, SupportsPreview: true, AcceptResources: true, AcceptOutputs: true,
	}, nil
}

// Cancel does nothing: an engine sends it at the end of every operation, and the
// next operation of the run attaches to the same host.
func (p *provider) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (p *provider) connection() *grpc.ClientConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.engines) == 0 {
		return nil
	}
	return p.engines[len(p.engines)-1]
}

func (p *provider) connect(address string) error {
	if address == "" {
		return errors.New("the engine gave no address")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if address == p.address {
		return nil
	}
	engine, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), rpcutil.GrpcChannelOptions())
	if err != nil {
		return fmt.Errorf("connect to the engine: %w", err)
	}
	p.engines, p.address = append(p.engines, engine), address
	return nil
}

func (p *provider) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, engine := range p.engines {
		_ = engine.Close() // the run is over
	}
}
