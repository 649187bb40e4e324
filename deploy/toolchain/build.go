package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// builder builds into one output folder.
type builder struct {
	output string
	screen *screen
}

func (b builder) bin() string    { return filepath.Join(b.output, "bin") }
func (b builder) stamps() string { return filepath.Join(b.output, "stamps") }

// lock waits until no other build works on the output folder.
func (b builder) lock() (release func(), err error) {
	file, err := os.OpenFile(filepath.Join(b.output, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		b.screen.say("Another build of the toolchain is running; waiting for it.")
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("wait for the other build: %w", err), file.Close())
		}
	}
	return func() { file.Close() }, nil
}

// update builds what is not current of a module, in one go, so that packages
// that its products share compile side by side and once.
func (b builder) update(ctx context.Context, m module) error {
	var stale []product
	stamps := map[string]string{}
	for _, p := range m.products {
		stamp, err := stampOf(ctx, m, p)
		if err != nil {
			return err
		}
		if b.current(ctx, p, stamp) {
			continue
		}
		linked, err := b.linkFromPath(ctx, p)
		if err != nil {
			return err
		}
		if !linked {
			stale = append(stale, p)
		}
		stamps[p.name] = stamp
	}
	if len(stale) > 0 {
		if err := b.build(ctx, m, stale); err != nil {
			return err
		}
	}
	for name, stamp := range stamps {
		if err := os.WriteFile(filepath.Join(b.stamps(), name), []byte(stamp), 0o644); err != nil {
			return fmt.Errorf("write stamp of %s: %w", name, err)
		}
	}
	return nil
}

// build builds products of a module and puts them into the bin folder.
func (b builder) build(ctx context.Context, m module, products []product) error {
	if err := writeProviderFiles(ctx, m, products); err != nil {
		return err
	}
	packages := make([]string, 0, len(products))
	names := make([]string, 0, len(products))
	for _, p := range products {
		packages = append(packages, p.pkg)
		names = append(names, p.name)
	}
	total, err := b.countPackages(ctx, m, packages)
	if err != nil {
		return err
	}
	// Programs are built aside and renamed: an interrupted build leaves none half.
	aside := filepath.Join(b.output, "building")
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("remove interrupted build: %w", err)
	}
	defer os.RemoveAll(aside)

	args := []string{"build", "-v", "-buildvcs=false", "-o", aside + string(filepath.Separator), "-ldflags", linkerFlags(products[0])}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = m.folder
	progress := b.screen.start(m.name, strings.Join(names, ", "), total)
	output, err := follow(cmd, progress)
	if err != nil {
		progress.fail()
		return fmt.Errorf("build %s: %w\n%s", strings.Join(names, ", "), err, output)
	}
	for _, p := range products {
		if err := b.install(filepath.Join(aside, p.name), p); err != nil {
			return err
		}
	}
	progress.finish()
	return nil
}

// install moves a built program into the bin folder and gives it its names.
func (b builder) install(built string, p product) error {
	if err := os.Rename(built, filepath.Join(b.bin(), p.name)); err != nil {
		return fmt.Errorf("install %s: %w", p.name, err)
	}
	for _, t := range p.tools {
		if t.name == p.name {
			continue
		}
		if err := replaceLink(p.name, filepath.Join(b.bin(), t.name)); err != nil {
			return err
		}
	}
	return nil
}

// countPackages returns how many packages a build would compile.
func (b builder) countPackages(ctx context.Context, m module, packages []string) (int, error) {
	b.screen.say("Looking at what %s needs; modules that are missing are downloaded.", m.name)
	format := "{{if .Stale}}{{.ImportPath}}{{end}}"
	out, err := goOutput(ctx, m.folder, append([]string{"list", "-deps", "-f", format}, packages...)...)
	if err != nil {
		return 0, err
	}
	return len(strings.Fields(out)), nil
}

// linkerFlags strips the programs and sets their versions. All products of a
// module take the same flags, as one `go build` has only one set.
func linkerFlags(p product) string {
	var flags strings.Builder
	flags.WriteString("-s -w")
	for _, symbol := range slices.Sorted(maps.Keys(p.symbols)) {
		fmt.Fprintf(&flags, " -X %s=%s", symbol, p.symbols[symbol])
	}
	return flags.String()
}

// follow runs a build, counts the packages that it names, and returns what it
// said besides.
func follow(cmd *exec.Cmd, progress *progress) (string, error) {
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.WaitDelay = 10 * time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	ended := make(chan error, 1)
	go func() {
		err := cmd.Run()
		ended <- errors.Join(err, writer.Close())
	}()
	var rest bytes.Buffer
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		line := lines.Text()
		if isImportPath(line) {
			progress.step()
			continue
		}
		rest.WriteString(line + "\n")
	}
	// A line too long for the scanner must not stop the build at a full pipe.
	if _, err := io.Copy(&rest, reader); err != nil {
		return "", errors.Join(fmt.Errorf("read the build's messages: %w", err), <-ended)
	}
	return rest.String(), <-ended
}

// isImportPath tells the names that `go build -v` prints from messages.
func isImportPath(line string) bool {
	return line != "" && !strings.ContainsAny(line, " \t:")
}

// goOutput runs the go command and returns what it prints.
func goOutput(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run go %s in %s: %w\n%s", args[0], folder, err, problems.String())
	}
	return strings.TrimSpace(out.String()), nil
}
