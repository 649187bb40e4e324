package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	"github.com/towpath-dev/towpath/internal/fault"
	"github.com/towpath-dev/towpath/web/auth"
)

// handleError turns any error into a page. It is the only writer of error pages,
// so it is the only place that decides what a person may read of an error.
func (s *Server) handleError(err error, c echo.Context) {
	// The time of the request may be over; to say so takes a moment more.
	ctx := context.WithoutCancel(c.Request().Context())
	c.SetRequest(c.Request().WithContext(ctx))
	if c.Response().Committed {
		s.Log.ErrorContext(ctx, "error after the answer began", slog.String("request_id", requestID(ctx)), slog.Any("err", err))
		return
	}
	status, title, message := judge(err)
	switch {
	case status >= http.StatusInternalServerError:
		s.Log.ErrorContext(ctx, "request failed", slog.String("request_id", requestID(ctx)), slog.Any("err", err))
	case status == http.StatusForbidden || status == http.StatusConflict || errors.As(err, new(*auth.Failure)):
		s.Log.InfoContext(ctx, "request refused", slog.String("request_id", requestID(ctx)), slog.Any("err", err))
	}
	if status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", "5")
	}
	view := page.ProblemView{
		Shell: s.shell(c, cmp.Or(title, http.StatusText(status))), Status: status, Title: title, Message: message,
		Next: []components.LinkView{{Text: "Go to the first page", URL: "/"}}, Again: again(c.Request(), status),
	}
	if err := s.render(c, status, page.Problem(view)); err != nil {
		s.Log.ErrorContext(ctx, "render the problem page", slog.String("request_id", requestID(ctx)), slog.Any("err", err))
		_ = c.String(http.StatusInternalServerError, "Something went wrong. Request "+requestID(ctx)+".\n") // nothing is left to try
	}
}

// again is the form of a request that could not be dealt with now: what people
// have entered comes back to them, so that a cluster that is away costs nothing.
func again(request *http.Request, status int) *page.AgainView {
	if request.Method != http.MethodPost || status < http.StatusInternalServerError || request.ParseForm() != nil {
		return nil
	}
	view := &page.AgainView{Action: request.URL.Path}
	for _, name := range slices.Sorted(maps.Keys(request.PostForm)) {
		for _, value := range request.PostForm[name] {
			view.Fields = append(view.Fields, components.HiddenView{Name: name, Value: value})
		}
	}
	return view
}

// judge says with which status an error is answered, and what a person may read
// of it; what is empty leaves the words to the page.
func judge(err error) (status int, title, message string) {
	var f *fault.Error
	var signIn *auth.Failure
	var h *echo.HTTPError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return statusOf(f.Kind), "", f.Message
	case errors.As(err, &signIn):
		return signIn.Status, signIn.Title, signIn.Message
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, "", ""
	case errors.As(err, &h):
		return h.Code, "", ""
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, "", "The cluster took too long to answer. Try again in a moment."
	case errors.Is(err, context.Canceled):
		return statusClientGone, "", ""
	}
	return http.StatusInternalServerError, "", ""
}

// statusClientGone is for the log: nobody reads the answer.
const statusClientGone = 499

func statusOf(kind fault.Kind) int {
	switch kind {
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
