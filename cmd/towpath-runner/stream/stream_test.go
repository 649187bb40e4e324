package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

func jsonOf(text string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(text)} }

func TestLinesAreScrubbed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write func(*stream.Stream)
		want  runner.Line
	}{
		"a log line, of terminal codes too": {
			func(s *stream.Stream) { s.Logf(stream.Warning, "\x1b[31mbad\x1b[0m %s", "hunter2") },
			runner.Line{Log: &runner.Log{Severity: "warning", Text: "bad [secret]"}},
		},
		"values of a step, deep inside, and names of properties": {
			func(s *stream.Stream) {
				s.Step(v1alpha1.PlanStep{Kind: v1alpha1.StepUpdate, URN: "urn:x", Changes: []v1alpha1.PropertyChange{{
					Path: `data["hunter2"]`, Old: jsonOf(`{"a b":["x hunter2 y",12345,54321]}`), New: jsonOf(`"aHVudGVyMg=="`),
				}}})
			},
			runner.Line{Step: &v1alpha1.PlanStep{Kind: v1alpha1.StepUpdate, URN: "urn:x", Changes: []v1alpha1.PropertyChange{{
				Path: `data["[secret]"]`, Old: jsonOf(`{"a b":["x [secret] y","[secret]",54321]}`), New: jsonOf(`"[secret]"`),
			}}}},
		},
		"a value that is no JSON": {
			func(s *stream.Stream) {
				s.Step(v1alpha1.PlanStep{Changes: []v1alpha1.PropertyChange{{Path: "a", New: jsonOf(`hunter2`)}}})
			},
			runner.Line{Step: &v1alpha1.PlanStep{Changes: []v1alpha1.PropertyChange{{Path: "a", New: jsonOf(`"[secret]"`)}}}},
		},
		"the result": {
			func(s *stream.Stream) {
				if err := s.Result(runner.Result{
					Phase: v1alpha1.RunFailed, Message: "it was hunter2",
					Outputs:     map[string]apiextensionsv1.JSON{"url": *jsonOf(`"x://u:hunter2@y"`)},
					Differences: []v1alpha1.Difference{{What: "x", Detail: "now hunter2"}},
				}); err != nil {
					t.Error(err)
				}
			},
			runner.Line{Result: &runner.Result{
				Phase: v1alpha1.RunFailed, Message: "it was [secret]",
				Outputs:     map[string]apiextensionsv1.JSON{"url": *jsonOf(`"x://u:[secret]@y"`)},
				Differences: []v1alpha1.Difference{{What: "x", Detail: "now [secret]"}},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			test.write(stream.New(&out, scrub.New("hunter2", "12345"), time.Now))
			var got runner.Line
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatalf("%v in %q", err, out.String())
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(runner.Line{}, "Time")); diff != "" {
				t.Error(diff)
			}
			if strings.Count(out.String(), "\n") != 1 {
				t.Errorf("%q is not one line", out.String())
			}
		})
	}
}

func TestBeatSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := stream.New(&out, scrub.New(), time.Now)
	s.Doing("previewing")
	ticks := make(chan time.Time)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Beat(ctx, ticks)
	}()
	ticks <- time.Now()
	stop()
	<-done
	if !strings.Contains(out.String(), `"heartbeat":{"doing":"previewing"}`) {
		t.Errorf("got %q", out.String())
	}
}
