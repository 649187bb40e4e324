package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/towpath-dev/towpath/web/kube"
)

const (
	// heartbeat keeps proxies from closing a quiet stream, and is how often a
	// stream asks whether its reader is still allowed to read.
	heartbeat = 20 * time.Second
	// pace is the shortest time between two looks: a log moves many times a second.
	// On pages of many things, something always moves somewhere.
	pace         = 500 * time.Millisecond
	paceOverview = 3 * time.Second
	// reconnect is when a browser comes back to a stream that broke.
	reconnect = 3 * time.Second
	// sendPatience is how long a reader may take to take a message.
	sendPatience = 10 * time.Second
)

// scene is what a live page shows now.
type scene struct {
	// version names the state that it was made from: the same state is not sent
	// again.
	version string
	parts   []part
	// done says that nothing will move any more.
	done bool
}

// versionOf names the state of some objects.
func versionOf(objects ...client.Object) string {
	var parts []string
	for _, object := range objects {
		parts = append(parts, string(object.GetUID())+object.GetResourceVersion())
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

// part is a fragment of a page. What is only for the eyes is in now; only what
// differs in steady, which is the same without relative times, is worth sending.
type part struct {
	key         string
	now, steady templ.Component
	// sentence is the state for those who do not see it move; may be empty.
	sentence string
}

// stream answers with events for as long as something moves: the parts of a page
// that have changed, rendered by the components that rendered the page.
func (s *Server) stream(c echo.Context, topic kube.Topic, pace time.Duration, look func(ctx context.Context) (scene, error)) error {
	ctx := c.Request().Context()
	signal, end, err := s.Cluster.Subscribe(user(c), topic)
	if err != nil {
		return err
	}
	defer end()
	first, err := look(ctx)
	if err != nil {
		return err
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()

	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	w := &eventWriter{w: c.Response(), control: http.NewResponseController(c.Response()), sent: map[string][]byte{}, said: map[string]string{}}
	seen := c.QueryParam("seen")
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" {
		seen = last
	}
	if err := w.begin(); err != nil {
		return nil
	}
	if err := w.show(ctx, first, first.version != seen); err != nil || first.done {
		return nil
	}
	s.follow(ctx, w, signal, pace, look)
	return nil
}

// follow sends what has moved until nothing will, the reader is gone, may no
// longer read, or the server stops. A browser that finds its stream ended without
// the event end comes back, and is told then.
func (s *Server) follow(ctx context.Context, w *eventWriter, signal <-chan struct{}, pace time.Duration, look func(context.Context) (scene, error)) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		moved := false
		select {
		case <-ctx.Done():
			return
		case <-s.closing:
			return
		case <-beat.C:
			if w.comment() != nil {
				return
			}
		case <-signal:
			moved = true
		}
		if !s.auth.Valid(ctx) {
			return
		}
		next, err := look(ctx)
		if err != nil {
			return
		}
		if w.show(ctx, next, true) != nil || next.done {
			return
		}
		if !moved {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-s.closing:
			return
		case <-time.After(pace):
		}
	}
}

// eventWriter writes server-sent events.
type eventWriter struct {
	w       *echo.Response
	control *http.ResponseController
	version string
	// sent is what the page has of each part, said what was announced of it last.
	sent map[string][]byte
	said map[string]string
}

func (e *eventWriter) begin() error {
	return e.write(fmt.Sprintf("retry: %d\n\n", reconnect.Milliseconds()))
}

func (e *eventWriter) comment() error { return e.write(": still here\n\n") }

// show sends those parts of a scene that differ from what was sent before; with
// send false, it only remembers them: the page has them already.
func (e *eventWriter) show(ctx context.Context, next scene, send bool) error {
	if next.version == e.version && !next.done {
		return nil
	}
	var message strings.Builder
	var news []string
	for _, p := range next.parts {
		steady, err := renderHTML(ctx, p.steady)
		if err != nil {
			return err
		}
		if bytes.Equal(e.sent[p.key], steady) {
			continue
		}
		if p.sentence != "" && p.sentence != e.said[p.key] {
			news = append(news, p.sentence)
		}
		e.sent[p.key], e.said[p.key] = steady, p.sentence
		if !send {
			continue
		}
		html, err := renderHTML(ctx, p.now)
		if err != nil {
			return err
		}
		event(&message, next.version, "fragment", string(html))
	}
	if send && len(news) > 0 {
		event(&message, next.version, "status", strings.Join(news, " "))
	}
	e.version = next.version
	if next.done {
		event(&message, next.version, "end", "ended")
	}
	if message.Len() == 0 {
		return nil
	}
	return e.write(message.String())
}

// event writes one event. A line break in the data would end it: each line of the
// data is a field of its own.
func event(b *strings.Builder, id, name, data string) {
	fmt.Fprintf(b, "id: %s\nevent: %s\n", id, name)
	for line := range strings.Lines(strings.ReplaceAll(data, "\r", "\n")) {
		fmt.Fprintf(b, "data: %s\n", strings.TrimSuffix(line, "\n"))
	}
	b.WriteString("\n")
}

func (e *eventWriter) write(text string) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(sendPatience)); err != nil {
		return fmt.Errorf("set the time to send an event: %w", err)
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	return nil
}
