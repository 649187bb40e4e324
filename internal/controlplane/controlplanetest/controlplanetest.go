// Package controlplanetest gives tests a real control plane. It must not be
// imported by anything but tests.
package controlplanetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/towpath-dev/towpath/internal/controlplane"
)

// Start starts etcd, the API server and the given components with fresh state,
// and stops them when the test ends.
func Start(tb testing.TB, components ...controlplane.Component) *controlplane.ControlPlane {
	tb.Helper()
	c, err := start(tb.Context(), tb.TempDir(), components)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Stop(context.WithoutCancel(tb.Context())); err != nil {
			tb.Errorf("stop the control plane: %v", err)
		}
	})
	return c
}

// Main runs a package's tests with one control plane for them all, which use
// takes before the first test. Call it from TestMain:
//
//	func TestMain(m *testing.M) {
//		os.Exit(controlplanetest.Main(m, func(c *controlplane.ControlPlane) { cluster = c }))
//	}
func Main(m *testing.M, use func(*controlplane.ControlPlane), components ...controlplane.Component) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "controlplane-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	c, err := start(ctx, dir, components)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	use(c)
	code := m.Run()
	if err := c.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "stop the control plane:", err)
		return 1
	}
	return code
}

func start(ctx context.Context, dir string, components []controlplane.Component) (*controlplane.ControlPlane, error) {
	bin, err := Bin()
	if err != nil {
		return nil, err
	}
	return controlplane.Start(ctx, controlplane.Config{
		Bin:        bin,
		Dir:        dir,
		Components: components,
		Disposable: true,
	})
}

// Bin returns the folder of the toolchain's binaries, below the module's root.
func Bin() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return filepath.Join(folder, ".toolchain", "bin"), nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("no go.mod above the working folder")
		}
		folder = parent
	}
}
