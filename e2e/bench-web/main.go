// Command bench-web measures the portal as it is with many services: it makes one
// real change, copies what came of it a thousand times into the cluster, and lets
// readers loose on a portal of its own process. It prints times, sizes and memory;
// times are this machine's. It measures only, and its cluster is thrown away.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/towpath-dev/towpath/e2e/portal"
	"github.com/towpath-dev/towpath/internal/controlplane"
)

const (
	services = 1000
	readers  = 20

	mostList   = 150 * time.Millisecond
	mostChange = 300 * time.Millisecond
	mostMemory = 200 << 20
	mostPage   = 40 << 10
)

func main() {
	log.SetLogger(logr.Discard()) // what goes wrong is returned
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench-web: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	root, err := portal.Root()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "towpath-bench-web-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	state, bin := filepath.Join(dir, "state"), filepath.Join(root, "bin")

	say("Making one change for real.")
	if err := makeChange(ctx, bin, state); err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx, controlplane.Config{
		Bin: filepath.Join(root, ".toolchain", "bin"), Dir: filepath.Join(state, "controlplane"), Disposable: true,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	say("Copying it %d times.", services)
	names, err := copyService(ctx, plane, services)
	if err != nil {
		return err
	}
	say("Starting the portal.")
	p, err := startPortal(ctx, plane, filepath.Join(bin, "towpath"), dir)
	if err != nil {
		return err
	}
	defer p.stop()
	say("Letting %d readers loose.", readers)
	result, err := p.read(ctx, names)
	if err != nil {
		return err
	}
	return result.print(out)
}

// print prints what was measured, and returns an error if something is over its
// limit.
func (r result) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	row := func(format string, args ...any) { _, _ = fmt.Fprintf(table, format+"\n", args...) }
	over := 0
	verdict := func(is bool) string {
		if is {
			over++
			return "over"
		}
		return ""
	}
	row("page\trequests\tmedian\tp95\tat most\tgzip\tat most\t")
	for _, page := range r.pages {
		p95 := page.quantile(0.95)
		row("%s\t%d\t%d ms\t%d ms\t%d ms\t%.1f KB\t%d KB\t%s", page.name, len(page.times), page.quantile(0.5).Milliseconds(),
			p95.Milliseconds(), page.most.Milliseconds(), float64(page.size)/1024, mostPage>>10, verdict(p95 > page.most || page.size > mostPage))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "memory of the portal: %d MiB now, %d MiB at its peak, at most %d MiB %s\n",
		r.memory>>20, r.peak>>20, mostMemory>>20, verdict(r.memory > mostMemory))
	if over > 0 {
		return fmt.Errorf("%d of the measurements are over their limits", over)
	}
	return nil
}
