package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	towpathdev "github.com/towpath-dev/towpath/e2e/portal"
)

// portal is a running portal, with a client of its administrator.
type portal struct {
	*towpathdev.Portal
	admin client.Client
}

// The team's namespace, in which everything is proposed.
const team = "shop"

// start starts a portal with its state in dir and returns when it says that it is
// ready.
func start(dir string) (*portal, error) {
	bin, err := built()
	if err != nil {
		return nil, err
	}
	p := &portal{}
	if p.Portal, err = towpathdev.Start(bin, dir); err != nil {
		return nil, err
	}
	config, err := p.Admin()
	if err == nil {
		p.admin, err = towpathdev.Connect(config)
	}
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// as connects to the portal's cluster as one of its people.
func (p *portal) as(t *testing.T, role string) client.Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig(role))
	if err != nil {
		t.Fatal(err)
	}
	c, err := towpathdev.Connect(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// anonymousKubeconfig knows the cluster and nobody in it.
func (p *portal) anonymousKubeconfig(t *testing.T) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(p.Kubeconfig("platform"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = clientcmdapi.NewAuthInfo()
	}
	path := filepath.Join(t.TempDir(), "anonymous.kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// logTail is the end of what the portal has to say, for a test that has failed.
func (p *portal) logTail() string {
	text, err := os.ReadFile(filepath.Join(p.Dir, "logs", "towpath.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
