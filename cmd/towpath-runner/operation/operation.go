// Package operation is what the runner does: a preview, or an apply that begins
// only when nothing differs from what was approved. It says everything on the
// event stream and ends with a result. It must never change anything before the
// comparison is through, nor claim that nothing changed without having looked.
package operation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/cluster"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/engine"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/host"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/process"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

// Options say how an operation is run.
type Options struct {
	// Grace is how long an interrupted engine may take to end; Hurry, once closed,
	// ends the grace.
	Grace time.Duration
	Hurry <-chan struct{}
}

// session is one run at work.
type session struct {
	job      *runner.Job
	out      *stream.Stream
	scrubber *scrub.Scrubber

	tools    engine.Tools
	target   *cluster.Cluster
	identity string
	host     *host.Host
	engine   *engine.Engine
	state    *state
}

// Run does the job and gives its result. When ctx ends it stops in order.
func Run(
	ctx context.Context, job *runner.Job, out *stream.Stream, scrubber *scrub.Scrubber, opts Options,
) (result runner.Result) {
	s := &session{job: job, out: out, scrubber: scrubber}
	defer func() {
		if r := recover(); r != nil {
			out.Logf(stream.Error, "%v\n%s", r, debug.Stack())
			result = runner.Result{Phase: v1alpha1.RunFailed, Message: "The runner met an error of its own; its log says more."}
		}
		if err := s.close(); err != nil {
			out.Logf(stream.Warning, "%v", err)
		}
	}()
	operate, err := s.operation()
	if err == nil {
		err = s.open(ctx, opts)
	}
	if err != nil {
		return s.failed(err)
	}
	return operate(ctx)
}

func (s *session) operation() (func(context.Context) runner.Result, error) {
	switch op := s.job.Operation; op {
	case v1alpha1.Preview:
		return s.preview, nil
	case v1alpha1.Up:
		if s.job.Approved == nil {
			return nil, errors.New("no plan was approved for this apply")
		}
		return s.up, nil
	case v1alpha1.Refresh, v1alpha1.Destroy:
		return nil, fmt.Errorf("the operation %s is not supported yet", op)
	default:
		return nil, fmt.Errorf("the operation %q is not known", op)
	}
}

// open makes everything ready that an operation needs, and reads the state.
func (s *session) open(ctx context.Context, opts Options) error {
	s.learnSecrets()
	ended, err := process.EndLeftovers(filepath.Dir(s.job.Dir))
	if err != nil {
		s.out.Logf(stream.Warning, "%v", err)
	}
	if len(ended) > 0 {
		s.out.Logf(stream.Info, "Ended %d processes that a run without a runner had left.", len(ended))
	}
	if s.target, err = cluster.Open(s.job.Kubeconfig); err != nil {
		return err
	}
	s.scrubber.Add(s.target.Tokens...)
	if s.tools, err = engine.FindTools(s.job.Toolchain, s.job.PulumiHome); err != nil {
		return err
	}
	s.out.Start(s.tools)
	if s.host, err = host.Start(ctx, s.job.GoldenPaths); err != nil {
		return err
	}
	eng, literals, err := engine.Open(ctx, s.job, engine.Options{
		Attach: s.host.Attach(), Hosted: s.host.Packages(), Tools: s.tools, Grace: opts.Grace, Hurry: opts.Hurry,
	})
	if err != nil {
		return err
	}
	s.engine = eng
	s.scrubber.Add(literals...)

	s.out.Doing("reading the cluster and the state")
	var probe error
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		s.identity, probe = s.target.Identity(groupCtx)
		return probe
	})
	group.Go(func() error { return s.selectStack(groupCtx) })
	err = group.Wait()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		// A cluster that had no time to answer is not an unreachable one.
		return &engine.Failure{Kind: engine.Interrupted, Message: "it was stopped on request", Err: err}
	case probe != nil && !errors.Is(probe, context.Canceled):
		return probe // it interrupted the other
	}
	return err
}

// selectStack reads the stack's state, or leaves that for later if enough is
// known of the stack to begin without: only a preview, which changes nothing, may.
func (s *session) selectStack(ctx context.Context) error {
	if encryption := s.knownEncryption(); encryption != "" && s.job.Operation == v1alpha1.Preview {
		return s.engine.Assume(ctx, encryption)
	}
	export, err := s.engine.Select(ctx)
	if err != nil {
		return err
	}
	s.rememberEncryption()
	s.state, err = s.readState(export)
	return err
}

// learnSecrets makes known what the job itself says is secret.
func (s *session) learnSecrets() {
	for _, secret := range s.job.Secrets {
		s.scrubber.Add(secret)
	}
	s.scrubber.Add(s.job.Env["PULUMI_CONFIG_PASSPHRASE"])
	for name, value := range s.job.Env {
		if upper := strings.ToUpper(name); strings.Contains(upper, "SECRET") ||
			strings.Contains(upper, "TOKEN") || strings.Contains(upper, "PASSWORD") {
			s.scrubber.Add(value)
		}
	}
}

func (s *session) close() error {
	var errs []error
	if s.host != nil {
		s.host.Close()
	}
	if err := process.EndDescendants(); err != nil {
		errs = append(errs, err)
	}
	if s.engine != nil {
		errs = append(errs, s.engine.Close())
	}
	return errors.Join(errs...)
}
