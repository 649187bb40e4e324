package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/towpath-dev/towpath/internal/fault"
	"github.com/towpath-dev/towpath/web/auth"
)

const (
	requestTimeout = 30 * time.Second
	maxBody        = 1 << 20
	maxCompose     = 4 << 20 // a Program of 1 MiB, escaped for a form
)

// middleware sets up what surrounds every handler, the outermost first.
//
//	request id    so that everything below can name the request
//	  log         one line for each request, also for those that panic
//	    recover   a panic becomes a page
//	      headers every answer carries them, errors too
//	        host and path   odd spellings end here, before any guard compares paths
//	          cross-site    a change must come from a page of ours
//	            limits      size and time
//	              compression
//	                session who is it? (Require, in the routes, asks for somebody)
func (s *Server) middleware() {
	s.echo.Pre(
		s.identify,
		s.logRequest,
		s.recoverPanic,
		s.setHeaders,
		s.checkHost,
		checkPath,
		s.checkOrigin(),
		limit,
		middleware.GzipWithConfig(middleware.GzipConfig{Level: 5, MinLength: 1024, Skipper: compressed}),
	)
	s.echo.Use(s.loadSession)
}

// forMachines are the paths whose answers are the same for everybody. They must
// also be answered when sessions cannot be read.
var forMachines = []string{"/healthz", "/readyz", "/metrics", "/static/:file"}

// loadSession finds out who is at the other end, where that matters.
func (s *Server) loadSession(next echo.HandlerFunc) echo.HandlerFunc {
	load := s.auth.Load(next)
	return func(c echo.Context) error {
		if slices.Contains(forMachines, c.Path()) {
			return next(c)
		}
		return load(c)
	}
}

type requestIDKey struct{}

// requestID is what people quote, and what the log has.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// identify names the request. A name from outside is not taken: it could be
// anything.
func (s *Server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := strings.ToLower(rand.Text()[:12])
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), requestIDKey{}, id)))
		c.Response().Header().Set("X-Request-Id", id)
		return next(c)
	}
}

// logRequest writes one line for each request, without anything that people have
// typed: no query, no form, no header.
func (s *Server) logRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := s.Clock.Now()
		if err := next(c); err != nil {
			c.Error(err)
		}
		took := s.Clock.Now().Sub(began)
		request, status := c.Request(), c.Response().Status
		route := c.Path()
		s.metrics.request(route, request.Method, status, took)
		level := slog.LevelInfo
		if slices.Contains(forMachines, route) {
			level = slog.LevelDebug
		}
		person, _ := auth.FromContext(request.Context())
		s.Log.LogAttrs(request.Context(), level, "request",
			slog.String("request_id", requestID(request.Context())),
			slog.String("method", request.Method), slog.String("path", request.URL.EscapedPath()), slog.String("route", route),
			slog.Int("status", status), slog.Duration("took", took), slog.Int64("bytes", c.Response().Size),
			slog.String("user", person.Username),
		)
		return nil
	}
}

func (s *Server) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if aborted, ok := cause.(error); ok && errors.Is(aborted, http.ErrAbortHandler) {
				panic(cause)
			}
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}()
		return next(c)
	}
}

// policy lets pages use nothing but our own files, and be framed by nobody.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func (s *Server) setHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		// Pages differ by person; files under /static say otherwise.
		h.Set("Cache-Control", "no-store")
		if s.PublicURL.Scheme == "https" {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		return next(c)
	}
}

// checkHost refuses requests that were meant for another host: a name that points
// here is not enough to be let into a portal on somebody's own machine.
func (s *Server) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		switch request.URL.Path {
		case "/healthz", "/readyz", "/metrics": // probes come by address
			return next(c)
		}
		if !strings.EqualFold(request.Host, s.PublicURL.Host) {
			return echo.NewHTTPError(http.StatusMisdirectedRequest)
		}
		return next(c)
	}
}

// plainPath is what every path of ours looks like: names as in Kubernetes and in
// /static, nothing escaped, nothing empty.
var plainPath = regexp.MustCompile(`^/([a-z0-9][-a-z0-9._]*(/[a-z0-9][-a-z0-9._]*)*)?$`)

// checkPath answers odd spellings of a path with "not found", before a router and
// a guard can read them differently. A slash at the end is a slip that is led on.
func checkPath(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		path := request.URL.Path
		if request.URL.RawPath == "" && plainPath.MatchString(path) && len(path) <= 1024 {
			if request.Method == http.MethodHead {
				// A HEAD is a GET without a body, which net/http leaves out.
				get := request.Clone(request.Context())
				get.Method = http.MethodGet
				c.SetRequest(get)
			}
			return next(c)
		}
		trimmed := strings.TrimSuffix(path, "/")
		if request.URL.RawPath == "" && request.Method == http.MethodGet && trimmed != "" && plainPath.MatchString(trimmed) {
			return c.Redirect(http.StatusPermanentRedirect, trimmed)
		}
		return echo.ErrNotFound
	}
}

// checkOrigin refuses changes that another site's page has sent.
func (s *Server) checkOrigin() echo.MiddlewareFunc {
	protection := http.NewCrossOriginProtection()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := protection.Check(c.Request()); err != nil {
				return fault.New(fault.Forbidden, err, "This came from a page of another site, so nothing was done. Open the portal itself and try again.")
			}
			return next(c)
		}
	}
}

// limit bounds the size of a body and the time of a request.
func limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		size := int64(maxBody)
		if request.URL.Path == "/compose" {
			size = maxCompose
		}
		if request.ContentLength > size {
			return echo.ErrStatusRequestEntityTooLarge
		}
		request.Body = http.MaxBytesReader(c.Response(), request.Body, size)
		if isStream(c) {
			return next(c)
		}
		ctx, cancel := context.WithTimeout(request.Context(), requestTimeout)
		defer cancel()
		c.SetRequest(request.WithContext(ctx))
		return next(c)
	}
}

func isStream(c echo.Context) bool {
	return strings.HasSuffix(c.Request().URL.Path, "/events")
}

// compressed reports what is not compressed on the way: streams, which must not
// wait, and files that are compressed already.
func compressed(c echo.Context) bool {
	return isStream(c) || strings.HasPrefix(c.Request().URL.Path, "/static/")
}
