// Package stream writes the runner's event stream: JSON lines, each scrubbed of
// secrets before it leaves. It is the only way out of the runner for text; it
// decides nothing about what is said.
package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

// The severities of a log line.
const (
	Info    = "info"
	Warning = "warning"
	Error   = "error"
)

// Stream is the way out. It may be used by several goroutines.
type Stream struct {
	scrubber *scrub.Scrubber
	now      func() time.Time

	mu    sync.Mutex
	out   io.Writer
	doing string
	err   error
}

// New gives a Stream that writes to out what scrubber lets through.
func New(out io.Writer, scrubber *scrub.Scrubber, now func() time.Time) *Stream {
	return &Stream{out: out, scrubber: scrubber, now: now}
}

// Start writes the first line.
func (s *Stream) Start(tools map[string]string) {
	s.write(runner.Line{Start: &runner.Start{PID: os.Getpid(), Tools: tools}})
}

// Logf writes a line for people.
func (s *Stream) Logf(severity, format string, args ...any) {
	text := strings.TrimSpace(scrub.Plain(fmt.Sprintf(format, args...)))
	if text == "" {
		return
	}
	s.write(runner.Line{Log: &runner.Log{Severity: severity, Text: s.scrubber.Text(text)}})
}

// Step writes what happens to a resource.
func (s *Stream) Step(step v1alpha1.PlanStep) {
	step.Object = s.scrubber.Text(step.Object)
	changes := make([]v1alpha1.PropertyChange, len(step.Changes))
	for i, change := range step.Changes {
		change.Path = s.scrubber.Text(change.Path)
		change.Old, change.New = s.value(change.Old), s.value(change.New)
		changes[i] = change
	}
	step.Changes = changes
	s.write(runner.Line{Step: &step})
}

// Result writes the last line. It gives the first error that any line met.
func (s *Stream) Result(result runner.Result) error {
	result.Message = s.scrubber.Text(scrub.Plain(result.Message))
	outputs := make(map[string]apiextensionsv1.JSON, len(result.Outputs))
	for name, value := range result.Outputs {
		outputs[name] = *s.value(&value)
	}
	if result.Outputs != nil {
		result.Outputs = outputs
	}
	differences := make([]v1alpha1.Difference, len(result.Differences))
	for i, d := range result.Differences {
		differences[i] = v1alpha1.Difference{What: d.What, Detail: s.scrubber.Text(scrub.Plain(d.Detail))}
	}
	if result.Differences != nil {
		result.Differences = differences
	}
	objects := make([]v1alpha1.ObjectReference, len(result.Objects))
	for i, o := range result.Objects {
		o.Namespace, o.Name = s.scrubber.Text(o.Namespace), s.scrubber.Text(o.Name)
		objects[i] = o
	}
	if result.Objects != nil {
		result.Objects = objects
	}
	s.write(runner.Line{Result: &result})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Doing says what heartbeats shall say.
func (s *Stream) Doing(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = what
}

// Beat writes a heartbeat at every tick until ctx ends.
func (s *Stream) Beat(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			s.mu.Lock()
			doing := s.doing
			s.mu.Unlock()
			s.write(runner.Line{Heartbeat: &runner.Heartbeat{Doing: doing}})
		}
	}
}

func (s *Stream) write(line runner.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line.Time = s.now().UTC()
	text, err := json.Marshal(line)
	if err == nil {
		_, err = s.out.Write(append(text, '\n'))
	}
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("write the event stream: %w", err)
	}
}

// value scrubs the strings of a JSON value, names of properties included. What
// cannot be read as JSON is a mask: it cannot be told what it holds.
func (s *Stream) value(value *apiextensionsv1.JSON) *apiextensionsv1.JSON {
	if value == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(value.Raw))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return masked()
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s.tree(tree)); err != nil {
		return masked()
	}
	return &apiextensionsv1.JSON{Raw: bytes.TrimSpace(out.Bytes())}
}

func masked() *apiextensionsv1.JSON {
	return &apiextensionsv1.JSON{Raw: []byte(`"` + scrub.Mask + `"`)}
}

func (s *Stream) tree(value any) any {
	switch value := value.(type) {
	case string:
		return s.scrubber.Text(value)
	case json.Number:
		// A secret may be a number; a number that only contains one is not it.
		if s.scrubber.Text(value.String()) == scrub.Mask {
			return scrub.Mask
		}
		return value
	case []any:
		for i := range value {
			value[i] = s.tree(value[i])
		}
		return value
	case map[string]any:
		clean := make(map[string]any, len(value))
		for name, v := range value {
			clean[s.scrubber.Text(name)] = s.tree(v)
		}
		return clean
	}
	return value
}
