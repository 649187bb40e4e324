package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/dev/issuer"
	"github.com/towpath-dev/towpath/web/auth"
)

// clientID is the portal's at the issuer.
const clientID = "towpath"

// Portal is what the portal is started with.
type Portal struct {
	// Config signs in as the portal.
	Config *rest.Config
	// URL is the portal's address, Listener where it is answered.
	URL      string
	Listener net.Listener
	// Issuer signs people in; ClientID is the portal's there.
	Issuer, ClientID string
	// Log is the log of the whole program.
	Log *slog.Logger
}

// runPortal serves the portal and the issuer until ctx is cancelled or one of them
// fails.
func (s *session) runPortal(ctx context.Context, plane *controlplane.ControlPlane, open listeners) error {
	config, err := plane.UserConfig(deploy.PortalUser, "system:serviceaccounts", "system:serviceaccounts:"+deploy.Namespace)
	if err != nil {
		return err
	}
	portal, issuerURL := localURL(open.portal), localURL(open.issuer)
	provider, err := issuer.New(issuer.Config{
		URL: issuerURL, Dir: filepath.Join(s.dir, "issuer"), People: accounts(), ClientID: clientID,
		RedirectURL: portal + auth.CallbackPath, PostLogoutURL: portal + auth.SignedOutPath,
	})
	if err != nil {
		return fmt.Errorf("set up signing in: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signIn := make(chan error, 1)
	go func() {
		defer stop()
		signIn <- serve(ctx, open.issuer, provider)
	}()
	err = s.Portal(ctx, Portal{
		Config: config, URL: portal, Listener: open.portal, Issuer: issuerURL, ClientID: clientID, Log: s.log,
	})
	stop()
	return errors.Join(err, <-signIn)
}

func accounts() []issuer.Person {
	var list []issuer.Person
	for _, p := range people() {
		list = append(list, issuer.Person{Username: p.name, Name: p.name, Does: p.does, Groups: []string{p.group}})
	}
	return list
}

const (
	readHeaderTimeout = 10 * time.Second
	drainPatience     = 5 * time.Second
)

// serve answers on a listener until ctx is cancelled.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the identity provider: %w", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainPatience)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		return errors.Join(fmt.Errorf("stop the identity provider: %w", err), server.Close())
	}
	return nil
}
