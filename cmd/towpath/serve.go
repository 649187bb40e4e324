package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/fault"
	"github.com/towpath-dev/towpath/web/auth"
)

// garbagePercent is how much garbage may gather, in percent of what is in use. Most
// of that are caches, which stay: Go's 100 would double them for nothing.
const garbagePercent = 50

// serveOptions are what towpath serve can be told.
type serveOptions struct {
	web, controller bool

	kubeconfig, namespace string

	address, url, certificate, key string
	metricsAddress                 string

	issuer, clientID, clientSecretFile string
	scopes                             []string
	claims                             auth.Claims

	controllerOptions
}

func newServeCommand() *cobra.Command {
	var o serveOptions
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve the portal and run the controller for a cluster",
		Long: `Serve the portal and run the controller for a cluster, or either alone. Every flag
can be given by the environment too: --public-url is TOWPATH_PUBLIC_URL. A flag
wins. docs/operation.md says more.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := fromEnvironment(command.Flags(), os.LookupEnv); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			return o.serve(command.Context(), slog.New(slog.NewJSONHandler(command.ErrOrStderr(), nil)))
		},
	}
	o.flags(command.Flags())
	return command
}

func (o *serveOptions) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.web, "web", true, "serve the portal")
	flags.BoolVar(&o.controller, "controller", true, "run the controller")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file; empty: that of the pod's service account")
	flags.StringVar(&o.namespace, "namespace", deploy.Namespace, "namespace that Towpath itself lives in")

	flags.StringVar(&o.address, "listen", ":8080", "address that the portal listens on")
	flags.StringVar(&o.url, "public-url", "", "address of the portal as people type it, as in https://towpath.example.com")
	flags.StringVar(&o.certificate, "tls-certificate", "", "file with the certificate; empty: TLS ends before the portal")
	flags.StringVar(&o.key, "tls-key", "", "file with the certificate's private key")
	flags.StringVar(&o.metricsAddress, "metrics-listen", ":9090", "address that metrics are served on; empty: none are")

	flags.StringVar(&o.issuer, "oidc-issuer", "", "OpenID provider, exactly as it names itself")
	flags.StringVar(&o.clientID, "oidc-client-id", "", "client ID of the portal at the provider")
	flags.StringVar(&o.clientSecretFile, "oidc-client-secret-file", "", "file with the client secret; empty: a public client")
	flags.StringSliceVar(&o.scopes, "oidc-scopes", []string{"profile", "email"}, "scopes to ask for besides openid")
	flags.StringVar(&o.claims.Username, "oidc-username-claim", "sub", "claim with the user name")
	flags.StringVar(&o.claims.UsernamePrefix, "oidc-username-prefix", "", "put before the user name, as the API server does")
	flags.StringVar(&o.claims.Groups, "oidc-groups-claim", "groups", "claim with the groups; empty: none")
	flags.StringVar(&o.claims.GroupsPrefix, "oidc-groups-prefix", "", "put before each group, as the API server does")

	o.controllerOptions.flags(flags)
}

// fromEnvironment takes what no flag says from TOWPATH_… variables.
func fromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var err error
	flags.VisitAll(func(flag *pflag.Flag) {
		name := "TOWPATH_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, ok := lookup(name)
		if flag.Changed || !ok || flag.Name == "help" {
			return
		}
		if e := flags.Set(flag.Name, value); e != nil {
			err = errors.Join(err, fault.New(fault.Invalid, e, "%s: %v", name, e))
		}
	})
	return err
}

// check refuses what cannot work, before anything is begun.
func (o *serveOptions) check() error {
	if !o.web && !o.controller {
		return fault.New(fault.Invalid, nil, "Nothing to do: --web and --controller are both off.")
	}
	if o.controller {
		if err := o.controllerOptions.check(); err != nil {
			return err
		}
	}
	if !o.web {
		return nil
	}
	for _, needed := range []struct{ flag, value string }{{"public-url", o.url}, {"oidc-issuer", o.issuer}, {"oidc-client-id", o.clientID}} {
		if needed.value == "" {
			return fault.New(fault.Invalid, nil, "The portal needs --%s.", needed.flag)
		}
	}
	if u, err := url.Parse(o.url); err != nil || u.Host == "" || strings.TrimSuffix(u.Path, "/") != "" {
		return fault.New(fault.Invalid, err, "--public-url must be scheme and host, as in https://towpath.example.com; it is %q.", o.url)
	}
	o.url = strings.TrimSuffix(o.url, "/")
	if (o.certificate == "") != (o.key == "") {
		return fault.New(fault.Invalid, nil, "Give both --tls-certificate and --tls-key, or neither.")
	}
	return nil
}

func (o *serveOptions) serve(ctx context.Context, log *slog.Logger) error {
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(garbagePercent)
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	var parts []func(context.Context) error
	if o.web {
		p, err := o.portal(ctx, config, log)
		if err != nil {
			return err
		}
		parts = append(parts, p.run)
	}
	if o.controller {
		parts = append(parts, func(ctx context.Context) error { return o.run(ctx, config, o.namespace, log) })
	}
	if o.metricsAddress != "" {
		parts = append(parts, func(ctx context.Context) error { return serveMetrics(ctx, o.metricsAddress) })
	}
	return runAll(ctx, parts...)
}

// config is the identity of this process in the cluster.
func (o *serveOptions) config() (*rest.Config, error) {
	if o.kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fault.New(fault.Invalid, err, "This does not run in a cluster: give --kubeconfig.")
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fault.New(fault.Invalid, err, "The kubeconfig %s cannot be used.", o.kubeconfig)
	}
	return config, nil
}

func (o *serveOptions) portal(ctx context.Context, config *rest.Config, log *slog.Logger) (portal, error) {
	p := portal{
		config: config, url: o.url, namespace: o.namespace, log: log,
		signIn: auth.Config{Issuer: o.issuer, ClientID: o.clientID, Scopes: o.scopes, Claims: o.claims},
	}
	if o.clientSecretFile != "" {
		secret, err := os.ReadFile(o.clientSecretFile)
		if err != nil {
			return p, fault.New(fault.Invalid, err, "The client secret in %s cannot be read.", o.clientSecretFile)
		}
		p.signIn.ClientSecret = strings.TrimSpace(string(secret))
	}
	if o.certificate != "" {
		p.tls = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate(o.certificate, o.key)}
		if _, err := p.tls.GetCertificate(nil); err != nil {
			return p, fault.New(fault.Invalid, err, "The certificate in %s and the key in %s cannot be used.", o.certificate, o.key)
		}
	}
	var listen net.ListenConfig
	var err error
	if p.listener, err = listen.Listen(ctx, "tcp", o.address); err != nil {
		return p, fault.New(fault.Unavailable, err, "The portal cannot listen on %s.", o.address)
	}
	return p, nil
}

// certificate reads the certificate anew for each connection: it is renewed while
// the portal runs, and a handshake costs far more than a small file.
func certificate(certificateFile, keyFile string) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificateFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate %q: %w", certificateFile, err)
		}
		return &pair, nil
	}
}
