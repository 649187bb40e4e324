// Package e2e drives the product as people do, with everything real: the built
// programs, a control plane, the Pulumi engine and its state. It may use the
// command line, kubectl and the Kubernetes API, and must not call the product's
// packages to make something happen.
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	towpathdev "github.com/towpath-dev/towpath/e2e/portal"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "towpath-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	ctrl.SetLogger(logr.Discard()) // the client asks for one and has nothing to tell
	code := m.Run()
	if shared.portal != nil {
		if err := shared.portal.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the shared portal:", err)
			return 1
		}
	}
	return code
}

// scratch is a folder for the whole package, removed at its end.
var scratch string

// built builds the programs under test, once.
var built = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(scratch, "bin")
	return bin, towpathdev.Build(context.Background(), bin)
})

// shared is the portal that most tests use, each with services of its own.
var shared struct {
	once   sync.Once
	portal *portal
	err    error
}

// sharedPortal starts the shared portal if no test has done so before.
func sharedPortal(t *testing.T) *portal {
	t.Helper()
	skipShort(t)
	shared.once.Do(func() {
		shared.portal, shared.err = start(filepath.Join(scratch, "shared", "towpath"))
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.portal
}

// ownPortal starts a portal for one test, which may do to it what it likes.
func ownPortal(t *testing.T) *portal {
	t.Helper()
	skipShort(t)
	p, err := start(filepath.Join(t.TempDir(), "towpath"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("stop the portal: %v", err)
		}
	})
	return p
}

func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a whole portal")
	}
}
