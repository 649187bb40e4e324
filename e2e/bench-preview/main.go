// Command bench-preview measures what a preview costs as the product runs it: by
// the runner, with golden paths hosted in its process, its digests and its
// scrubbing. It compares, in one run and one cluster, with bare `pulumi preview`
// of a flat program of the same resources, with stock component plugins, and with
// bare Pulumi's defaults on a large plain program. It prints ratios: absolute
// times are this machine's.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

// rounds is how often each way is measured; the ways take turns, so that what
// else the machine does falls on all of them. The median counts.
const rounds = 5

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench-preview: "+err.Error())
		os.Exit(1)
	}
}

// comparison is the product against another way to preview the same.
type comparison struct {
	name   string
	limit  float64
	rounds int
	own    func(ctx context.Context) error
	other  func(ctx context.Context) error
}

func run(ctx context.Context, out io.Writer) error {
	lab, err := openLab(ctx, out)
	if err != nil {
		return err
	}
	defer lab.close(ctx)
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	row := func(format string, args ...any) { _, _ = fmt.Fprintf(table, format+"\n", args...) }
	row("preview of\tproduct\tother\tratio\tat most\t")
	failed := false
	for _, c := range lab.comparisons() {
		own, other, err := c.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		ratio := own.Seconds() / other.Seconds()
		verdict := ""
		if ratio > c.limit {
			verdict, failed = "over", true
		}
		row("%s\t%.2f s\t%.2f s\t%.2f\t%.2f\t%s", c.name, own.Seconds(), other.Seconds(), ratio, c.limit, verdict)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if failed {
		_, _ = fmt.Fprintln(out, "Some ratio is over its limit.")
	}
	return nil
}

// measure returns the median time of each way.
func (c comparison) measure(ctx context.Context) (own, other time.Duration, err error) {
	ways := []func(context.Context) error{c.own, c.other}
	times := make([][]time.Duration, len(ways))
	// The first round fills caches and does not count.
	for round := range c.rounds + 1 {
		for i, way := range ways {
			begin := time.Now()
			if err := way(ctx); err != nil {
				return 0, 0, err
			}
			if round > 0 {
				times[i] = append(times[i], time.Since(begin))
			}
		}
	}
	return median(times[0]), median(times[1]), nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("there is no go.mod above the current folder; run make bench-preview")
		}
		dir = parent
	}
}
