package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  string
		seen report
		want Failure
	}{
		"a problem that the language host finds": {
			err: "failed to run preview: exit status 255",
			seen: report{complaints: []string{
				"Error: nope does not exist on web\n", "\n  on Pulumi.yaml line 5:\n", "   5:     web2: {type: x}\n",
				"Existing properties are: port, url\n",
			}},
			want: Failure{Kind: Refused, Message: "nope does not exist on web; Existing properties are: port, url"},
		},
		"a resource that the API server refuses": {
			err: "failed to run preview: exit status 255",
			seen: report{errors: []string{
				`Preview failed: resource "urn:pulumi:dev::orders::web:index:Web$kubernetes:core/v1:Service::web-service" was not successfully created by the Kubernetes API server: Service "X" is invalid: metadata.name: Invalid value: "X": must be lower case (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z]([-a-z0-9]*)?')`,
				"preview failed",
				"web:index:Web resource 'web' has a problem: grpc: the client connection is closing",
			}},
			want: Failure{
				Kind:    Refused,
				Message: `Service web-service was not successfully created by the Kubernetes API server: Service "X" is invalid: metadata.name: Invalid value: "X": must be lower case`,
			},
		},
		"a lock": {
			err: "failed to run update: exit status 255\ncode: 255\nstdout: \nstderr: error: the stack is currently locked by 1 lock(s). Either wait\n  file:///s/x.json: created by bob@build-7 (pid 42) at 2026-11-30T20:14:44Z\n",
			want: Failure{
				Kind:    Locked,
				Message: "the stack is locked by bob on build-7 (process 42, since 2026-11-30T20:14:44Z)",
				Locks:   []Lock{{User: "bob", Host: "build-7", PID: 42, Since: "2026-11-30T20:14:44Z"}},
			},
		},
		"a violation of the plan": {
			err: "failed to run update: exit status 255",
			seen: report{errors: []string{
				"resource urn:pulumi:dev::q::kubernetes:core/v1:ConfigMap::b violates plan: properties changed: =~data",
			}},
			want: Failure{Kind: Violated, Message: "ConfigMap b violates plan: properties changed: =~data"},
		},
		"a permission that lacks": {
			err:  "failed to run update: exit status 255",
			seen: report{errors: []string{`configmaps is forbidden: User "bob" cannot patch`}},
			want: Failure{Kind: Forbidden, Message: `configmaps is forbidden: User "bob" cannot patch`},
		},
		"a stack that does not exist": {
			err:  "failed: exit status 255\ncode: 255\nstdout: \nstderr: error: no stack named 'organization/q/dev' found\n",
			want: Failure{Kind: StackMissing, Message: "no stack named 'organization/q/dev' found"},
		},
		"an engine that was killed": {
			err:  "failed to run update: context canceled\nthe engine was killed",
			want: Failure{Kind: Killed, Message: "the engine did not end in time and was killed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got *Failure
			if err := failure(t.Context(), errors.New(test.err), &test.seen); !errors.As(err, &got) {
				t.Fatalf("got %v", err)
			}
			got.Err = nil
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailureOnRequest(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := failure(ctx, errors.New("exit status 255"), nil); !isKind(err, Interrupted) {
		t.Errorf("got %v", err)
	}
}
