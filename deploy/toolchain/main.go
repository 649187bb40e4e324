// Command toolchain builds the programs that Towpath runs beside itself, from
// Go modules pinned in the folders below: the Pulumi CLI with its YAML language
// host and its Kubernetes provider, and a Kubernetes control plane.
//
//	go run ./deploy/toolchain -o .toolchain
//
// It builds only what is not there or has changed, takes a program from PATH
// when that is exactly the pinned version, and needs nothing but Go and the Go
// module proxy. It must not be imported, and installs nothing outside -o.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	source := flag.String("source", "deploy/toolchain", "the `folder` of the pinned modules")
	output := flag.String("o", ".toolchain", "the `folder` to build into")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *source, *output)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "toolchain: interrupted; the next start goes on from here.")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "toolchain:", err)
		os.Exit(1)
	}
}

// run brings the output folder up to date.
func run(ctx context.Context, source, output string) error {
	output, err := filepath.Abs(output)
	if err != nil {
		return fmt.Errorf("find folder %q: %w", output, err)
	}
	modules, err := readModules(source)
	if err != nil {
		return err
	}
	b := builder{output: output, screen: newScreen(os.Stderr)}
	for _, folder := range []string{b.bin(), b.stamps()} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("create output folder: %w", err)
		}
	}
	release, err := b.lock()
	if err != nil {
		return err
	}
	defer release()
	for _, m := range modules {
		if err := b.update(ctx, m); err != nil {
			return err
		}
	}
	return linkPlugin(output)
}
