// Package engine drives Pulumi through its Automation API for one run: it lays
// out a private workspace, starts the CLI in a clean environment, and turns what
// the engine says into events and classified failures. It must not decide
// whether an operation may run, and nothing secret that it writes outlives it.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/controller/runner"
)

// Engine is Pulumi with one stack.
type Engine struct {
	job       *runner.Job
	dir       string
	stack     *auto.Stack
	keys      *keys
	secrets   *Secrets
	workspace *auto.LocalWorkspace
}

// Options say how the engine is run.
type Options struct {
	// Attach is the value of PULUMI_DEBUG_PROVIDERS.
	Attach string
	// Hosted are the versions of the packages that are attached.
	Hosted map[string]string
	// Tools are the versions of the toolchain.
	Tools Tools
	// Grace is how long an interrupted engine may take to end; Hurry, once closed,
	// ends the grace.
	Grace time.Duration
	Hurry <-chan struct{}
}

// Open lays out the workspace and gives the engine, and the literals that the
// program calls secret.
func Open(ctx context.Context, job *runner.Job, opts Options) (*Engine, []string, error) {
	project, secrets, err := ProjectFile(job.Project, job.ProjectName, opts.Hosted)
	if err != nil {
		return nil, nil, err
	}
	if p := job.SecretsProvider; p != "" && p != "passphrase" {
		return nil, nil, fmt.Errorf("secrets provider %q is not supported; passphrase is", p)
	}
	e := &Engine{
		job: job, dir: workDir(job),
		keys: newKeys(job.Env["PULUMI_CONFIG_PASSPHRASE"], job.DigestKey, job.Backend+" "+job.Stack),
	}
	if len(job.Secrets) > 0 {
		e.keys.ahead()
	}
	if err := e.layOut(project); err != nil {
		return nil, nil, err
	}
	cli := &command{
		path:    filepath.Join(job.Toolchain, "pulumi"),
		env:     Environment(job, opts.Attach),
		version: opts.Tools.pulumi(),
		grace:   opts.Grace, hurry: opts.Hurry,
	}
	workspace, err := auto.NewLocalWorkspace(ctx, auto.WorkDir(e.dir), auto.Pulumi(cli), auto.PulumiHome(job.PulumiHome))
	if err != nil {
		return nil, nil, fmt.Errorf("make the workspace: %w", err)
	}
	local, ok := workspace.(*auto.LocalWorkspace)
	if !ok {
		return nil, nil, errors.New("make the workspace: it is not a local one")
	}
	e.workspace = local
	return e, secrets, nil
}

// Close removes the workspace and all that is secret in it.
func (e *Engine) Close() error {
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("remove the workspace: %w", err)
	}
	return nil
}

// Select makes the engine work on the job's stack, which is made if it does not
// exist, and gives the stack's state.
func (e *Engine) Select(ctx context.Context) (json.RawMessage, error) {
	export, err := e.export(ctx)
	missing := isKind(err, StackMissing)
	if err != nil && !missing {
		return nil, err
	}
	state, err := encryptionState(export)
	if err != nil {
		return nil, &Failure{Kind: Refused, Message: sentence(err), Err: err}
	}
	if err := e.Assume(ctx, state); err != nil {
		return nil, err
	}
	if missing {
		if err := e.workspace.CreateStack(ctx, e.job.Stack); err != nil {
			return nil, failure(ctx, fmt.Errorf("create stack %s: %w", e.job.Stack, err), nil)
		}
	}
	return export, nil
}

// Assume makes the engine work on the job's stack without asking whether it
// exists and is encrypted so: the caller will find out.
func (e *Engine) Assume(ctx context.Context, encryption string) error {
	var err error
	if e.secrets, err = e.keys.secrets(ctx, encryption); err != nil {
		return &Failure{Kind: Refused, Message: sentence(err), Err: err}
	}
	settings, err := StackFile(ctx, e.job, e.secrets)
	if err != nil {
		return &Failure{Kind: Refused, Message: sentence(err), Err: err}
	}
	if err := os.WriteFile(filepath.Join(e.dir, stackFileName(e.job.Stack)), settings, 0o600); err != nil {
		return fmt.Errorf("write stack config: %w", err)
	}
	// The stack is named in every command, so it need not be selected.
	stack, err := auto.NewStack(ctx, e.job.Stack, selected{e.workspace})
	if err != nil {
		return fmt.Errorf("open stack %s: %w", e.job.Stack, err)
	}
	e.stack = &stack
	return nil
}

// Encryption is the encryption state that the engine works with.
func (e *Engine) Encryption() string { return e.secrets.State() }

// IsEncrypted reports whether a stack with this export is encrypted as the engine
// assumes.
func (e *Engine) IsEncrypted(export json.RawMessage) bool {
	state, err := encryptionState(export)
	return err == nil && state == e.Encryption()
}

// selected is a workspace whose stack exists.
type selected struct{ *auto.LocalWorkspace }

// CreateStack does nothing: the stack exists.
func (selected) CreateStack(context.Context, string) error { return nil }

// Decrypt gives the plaintext of a ciphertext that the stack's secrets manager
// made.
func (e *Engine) Decrypt(ciphertext string) (string, error) {
	return e.secrets.Decrypt(context.Background(), ciphertext) //nolint:forbidigo // it computes, and waits for nothing
}

// State is the stack's state, secrets encrypted.
func (e *Engine) State(ctx context.Context) (json.RawMessage, error) { return e.export(ctx) }

// export does without the Automation API, which has every secret decrypted.
func (e *Engine) export(ctx context.Context) (json.RawMessage, error) {
	stdout, stderr, _, err := e.workspace.PulumiCommand().Run(ctx, e.dir, nil, nil, nil, nil,
		"stack", "export", "--stack", e.job.Stack)
	if err != nil {
		return nil, failure(ctx, fmt.Errorf("read the state of stack %s: %w\nstderr: %s", e.job.Stack, err, stderr), nil)
	}
	return json.RawMessage(stdout), nil
}

// Preview plans the program and saves the plan. It changes nothing.
func (e *Engine) Preview(ctx context.Context, savePlan string, each func(plan.Event)) error {
	// Snapshots are of no use in a preview, and writing one for each step is most
	// of a large preview's time.
	e.workspace.SetEnvVar("PULUMI_SKIP_CHECKPOINTS", "true")
	defer e.workspace.UnsetEnvVar("PULUMI_SKIP_CHECKPOINTS")
	return e.follow(ctx, "preview", each, func(stream chan<- events.EngineEvent) error {
		_, err := e.stack.Preview(ctx, optpreview.Plan(savePlan), optpreview.Color("never"),
			optpreview.SuppressProgress(), optpreview.SuppressOutputs(), optpreview.EventStreams(stream))
		return err
	})
}

// Up applies the program within a saved plan.
func (e *Engine) Up(ctx context.Context, withPlan string, each func(plan.Event)) error {
	return e.follow(ctx, "apply", each, func(stream chan<- events.EngineEvent) error {
		_, err := e.stack.Up(ctx, optup.Plan(withPlan), optup.Color("never"),
			optup.SuppressProgress(), optup.SuppressOutputs(), optup.EventStreams(stream))
		return onlyOf(err, "failed to run update")
	})
}

// onlyOf gives an error if it is the command's own: what the Automation API asks
// after a success (outputs, history) is not used here and may fail.
func onlyOf(err error, words string) error {
	if err != nil && strings.Contains(err.Error(), words) {
		return err
	}
	return nil
}

// ClearPendingCreates forgets the creates that an earlier run began and never
// finished, and reads what exists anew.
func (e *Engine) ClearPendingCreates(ctx context.Context, each func(plan.Event)) error {
	return e.follow(ctx, "refresh", each, func(stream chan<- events.EngineEvent) error {
		_, err := e.stack.Refresh(ctx, optrefresh.ClearPendingCreates(), optrefresh.Color("never"),
			optrefresh.RunProgram(false),
			optrefresh.SuppressProgress(), optrefresh.SuppressOutputs(), optrefresh.EventStreams(stream))
		return onlyOf(err, "failed to refresh")
	})
}

// Unlock removes every lock of the stack.
func (e *Engine) Unlock(ctx context.Context) error {
	if err := e.stack.Cancel(ctx); err != nil {
		return failure(ctx, fmt.Errorf("remove the lock of stack %s: %w", e.job.Stack, err), nil)
	}
	return nil
}

// follow runs an operation, passes its events on and classifies its failure.
func (e *Engine) follow(
	ctx context.Context, what string, each func(plan.Event), run func(chan<- events.EngineEvent) error,
) error {
	stream := make(chan events.EngineEvent)
	stop, done := make(chan struct{}), make(chan struct{})
	var seen report
	go func() {
		defer close(done)
		for {
			select {
			case event, open := <-stream:
				if !open {
					return
				}
				seen.read(event, each)
			case <-stop: // the engine never connected: nobody closes the stream
				return
			}
		}
	}()
	err := run(stream)
	close(stop)
	<-done
	if err != nil {
		return failure(ctx, fmt.Errorf("%s stack %s: %w", what, e.job.Stack, err), &seen)
	}
	return seen.err
}
