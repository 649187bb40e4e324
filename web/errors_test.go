package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/internal/fault"
	"github.com/towpath-dev/towpath/web/auth"
)

func TestWhatPeopleReadOfAnError(t *testing.T) {
	const internal = "dial tcp 10.0.0.1: password=hunter2"
	for name, test := range map[string]struct {
		err     error
		status  int
		message string
	}{
		"a fault has its sentence":       {fault.New(fault.Conflict, errors.New(internal), "It changed."), http.StatusConflict, "It changed."},
		"also deep inside":               {fmt.Errorf("read: %w", fault.New(fault.NotFound, nil, "There is none.")), http.StatusNotFound, "There is none."},
		"what is wrong with a form":      {fault.New(fault.Invalid, nil, "Mend it."), http.StatusUnprocessableEntity, "Mend it."},
		"the cluster is away":            {fault.New(fault.Unavailable, errors.New(internal), "Try again."), http.StatusServiceUnavailable, "Try again."},
		"a failed sign-in":               {&auth.Failure{Status: http.StatusBadRequest, Message: "Sign in again.", Err: errors.New(internal)}, http.StatusBadRequest, "Sign in again."},
		"anything else tells nothing":    {errors.New(internal), http.StatusInternalServerError, ""},
		"a route that is not there":      {echo.ErrNotFound, http.StatusNotFound, ""},
		"a body that is too large":       {fmt.Errorf("parse: %w", &http.MaxBytesError{}), http.StatusRequestEntityTooLarge, ""},
		"too slow":                       {context.DeadlineExceeded, http.StatusServiceUnavailable, "The cluster took too long to answer. Try again in a moment."},
		"a reader who has gone":          {context.Canceled, statusClientGone, ""},
		"an error of echo with a reason": {echo.NewHTTPError(http.StatusTeapot, internal), http.StatusTeapot, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, message := judge(test.err)
			if status != test.status || message != test.message {
				t.Errorf("it is %d %q; want %d %q", status, message, test.status, test.message)
			}
		})
	}
}
