package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/dev/issuer"
	"github.com/towpath-dev/towpath/web/auth"
)

// server is `towpath serve` in a process of its own, without the controller, and
// the provider that signs readers in.
type server struct {
	url      string
	cmd      *exec.Cmd
	log      *bytes.Buffer
	provider *http.Server
}

func startPortal(ctx context.Context, plane *controlplane.ControlPlane, program, dir string) (*server, error) {
	kubeconfig, err := plane.Kubeconfig(deploy.PortalUser, "system:serviceaccounts", "system:serviceaccounts:"+deploy.Namespace)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "portal.kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return nil, err
	}
	// The portal opens its port itself; it is found free a moment before.
	free, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	signIn, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + address, log: new(bytes.Buffer)}
	handler, err := issuer.New(issuer.Config{
		URL: "http://" + signIn.Addr().String(), Dir: dir, ClientID: "bench",
		RedirectURL: s.url + auth.CallbackPath, PostLogoutURL: s.url + auth.SignedOutPath,
		People: []issuer.Person{
			{Username: "developer", Name: "developer", Groups: []string{"developer"}},
			{Username: "approver", Name: "approver", Groups: []string{"approver"}},
		},
	})
	if err != nil {
		return nil, errors.Join(err, signIn.Close())
	}
	s.provider = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.provider.Serve(signIn) }() // until stop

	s.cmd = exec.CommandContext(ctx, program, "serve", "--controller=false", "--kubeconfig", path, "--metrics-listen=",
		"--listen", address, "--public-url", s.url, "--oidc-issuer", "http://"+signIn.Addr().String(), "--oidc-client-id", "bench", "--oidc-scopes", "profile")
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, s.provider.Close())
	}
	err = wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("wait for the portal: %w\n%s", err, s.log)
	}
	return s, nil
}

func listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", "127.0.0.1:0")
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	_ = s.provider.Close()
}

// memory is the portal's resident memory, now and at its peak, in bytes.
func (s *server) memory() (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read the portal's memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			continue // not a size
		}
		switch name {
		case "VmRSS":
			now = kilobytes << 10
		case "VmHWM":
			peak = kilobytes << 10
		}
	}
	return now, peak, nil
}
