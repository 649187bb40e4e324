// Command towpath-runner does one Pulumi operation: it reads a runner.Job as JSON
// from its standard input, writes its event stream to stream.jsonl in the job's
// folder and ends with status 0 once it has written a result, whatever that says.
// It is the only program that links Pulumi. It decides nothing about approvals:
// it compares what it finds with what the job says was approved.
//
// The first SIGTERM or SIGINT interrupts the engine and waits; a second one kills
// it. No process that it started outlives it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/operation"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/process"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	"github.com/towpath-dev/towpath/controller/runner"
)

func main() {
	parent := os.Getppid()
	var (
		toStdout       = flag.Bool("stdout", false, "write the event stream to standard output too")
		exitWithParent = flag.Bool("exit-with-parent", false, "stop as on SIGTERM when the parent process ends")
		grace          = flag.Duration("grace", time.Minute, "how long an interrupted engine may take to end")
	)
	flag.Parse()
	// The runner lives for seconds: see engine.Environment.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(1 << 30)
	if err := run(parent, *toStdout, *exitWithParent, *grace); err != nil {
		fmt.Fprintln(os.Stderr, "towpath-runner:", err)
		os.Exit(1)
	}
}

// heartbeat is the time between two signs of life.
const heartbeat = 5 * time.Second

func run(parent int, toStdout, exitWithParent bool, grace time.Duration) error {
	ctx, hurry := untilAsked()
	if exitWithParent {
		if err := process.ExitWithParent(parent); err != nil {
			return err
		}
	}
	job, err := readJob(os.Stdin)
	if err != nil {
		return err
	}
	if err := process.AdoptOrphans(); err != nil {
		return err
	}
	if err := os.MkdirAll(job.Dir, 0o700); err != nil {
		return fmt.Errorf("make the run's folder: %w", err)
	}
	lock, err := process.Lock(job.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := cleanEnvironment(job); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(job.Dir, runner.StreamFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the event stream: %w", err)
	}
	defer file.Close()
	var out io.Writer = file
	if toStdout {
		out = io.MultiWriter(file, os.Stdout)
	}

	scrubber := scrub.New()
	lines := stream.New(out, scrubber, time.Now)
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	beating, stopBeating := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		lines.Beat(beating, ticker.C)
	}()
	result := operation.Run(ctx, job, lines, scrubber, operation.Options{Grace: grace, Hurry: hurry})
	// The result is the last line.
	stopBeating()
	<-stopped
	return lines.Result(result)
}

// untilAsked gives a context that ends when the runner is asked to stop, and a
// channel that closes when it is asked again.
func untilAsked() (context.Context, <-chan struct{}) {
	ctx, stop := context.WithCancel(context.Background())
	hurry := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT)
	go func() {
		<-signals
		stop()
		<-signals
		close(hurry)
		signal.Ignore(unix.SIGTERM, unix.SIGINT)
	}()
	return ctx, hurry
}

func readJob(in io.Reader) (*runner.Job, error) {
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	var job runner.Job
	if err := decoder.Decode(&job); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	// The launcher closes its end once it has written everything.
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read the job: more follows it")
	}
	if !filepath.IsAbs(job.Dir) || job.RunUID == "" || len(job.DigestKey) == 0 {
		return nil, errors.New("the job lacks a folder, a run or a key")
	}
	return &job, nil
}

// cleanEnvironment keeps what the runner inherited from the libraries that it
// links, which read the environment as the engine does.
func cleanEnvironment(job *runner.Job) error {
	os.Clearenv()
	for name, value := range map[string]string{
		"PATH":           "/usr/local/bin:/usr/bin:/bin",
		"HOME":           job.Dir,
		"TMPDIR":         job.Dir,
		"PULUMI_HOME":    job.PulumiHome,
		runner.RunMarker: job.RunUID,
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
	} {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}
