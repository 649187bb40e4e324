// Package browser drives the portal's pages in a real browser, as people do: it
// finds things only by their role, label or text, and waits for those and never
// for a time. What it cannot name, a screen reader cannot either.
package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/towpath-dev/towpath/e2e/portal"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "towpath-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	world.dir = dir
	code := m.Run()
	if err := world.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// world is what all tests share: a browser, and a portal for those that leave it
// as it is.
var world surroundings

type surroundings struct {
	dir string

	browserOnce sync.Once
	driver      *playwright.Playwright
	browser     playwright.Browser
	browserErr  error

	buildOnce sync.Once
	buildErr  error

	portalOnce sync.Once
	portal     *portal.Portal
	portalErr  error
}

func (w *surroundings) close() error {
	if w.driver != nil {
		if err := w.driver.Stop(); err != nil {
			return fmt.Errorf("stop the browser's driver: %w", err)
		}
	}
	if w.portal != nil {
		return w.portal.Stop()
	}
	return nil
}

// start starts a portal of its own folder.
func (w *surroundings) start(name string) (*portal.Portal, error) {
	bin := filepath.Join(w.dir, "bin")
	w.buildOnce.Do(func() { w.buildErr = portal.Build(context.Background(), bin) })
	if w.buildErr != nil {
		return nil, w.buildErr
	}
	return portal.Start(bin, filepath.Join(w.dir, name))
}

// sharedPortal is the portal that most tests use, each with services of its own.
func sharedPortal(t *testing.T) *portal.Portal {
	t.Helper()
	skipShort(t)
	world.portalOnce.Do(func() { world.portal, world.portalErr = world.start("shared") })
	if world.portalErr != nil {
		t.Fatal(world.portalErr)
	}
	return world.portal
}

// ownPortal is a portal for one test, which may do to it what it likes.
func ownPortal(t *testing.T) *portal.Portal {
	t.Helper()
	skipShort(t)
	p, err := world.start(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a whole portal and a browser")
	}
}

// installed is a folder or file that `make browser` installs.
func installed(parts ...string) (string, error) {
	root, err := portal.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(append([]string{root, ".toolchain", "browser"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the browser is not installed; run `make browser` first: %w", err)
	}
	return path, nil
}

func (w *surroundings) launch() error {
	driver, err := installed("driver")
	if err != nil {
		return err
	}
	w.driver, err = playwright.Run(&playwright.RunOptions{DriverDirectory: driver, SkipInstallBrowsers: true})
	if err != nil {
		return fmt.Errorf("start the browser's driver: %w", err)
	}
	w.browser, err = w.driver.Chromium.Launch(playwright.BrowserTypeLaunchOptions{
		ExecutablePath: playwright.String("/usr/bin/chromium"),
		// The tests also run as root in a container, where Chromium's own sandbox
		// cannot start. Nothing here may look for updates.
		Args: []string{"--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"},
	})
	if err != nil {
		return fmt.Errorf("start the browser: %w", err)
	}
	return nil
}

// chromium is the browser that all tests share; each person has a context of
// their own in it.
func chromium(t *testing.T) playwright.Browser {
	t.Helper()
	world.browserOnce.Do(func() { world.browserErr = world.launch() })
	if world.browserErr != nil {
		t.Fatal(world.browserErr)
	}
	return world.browser
}
