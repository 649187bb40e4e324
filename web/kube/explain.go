package kube

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/internal/fault"
)

// explain turns an answer of the API server into an error that a person may read.
func explain(err error, doing, what, namespace, name string) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsNotFound(err):
		return notFound(what, namespace, name)
	case apierrors.IsForbidden(err):
		return fault.New(fault.Forbidden, err, "You may not %s. %s", doing, reason(err))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return fault.New(fault.Invalid, err, "The cluster refused to %s: %s", doing, reason(err))
	case apierrors.IsRequestEntityTooLargeError(err):
		return fault.New(fault.Invalid, err, "The cluster refused to %s: it is too large.", doing)
	case apierrors.IsAlreadyExists(err):
		return fault.New(fault.Conflict, err, "There is a %s named %s in %s already.", what, name, namespace)
	case apierrors.IsConflict(err):
		return fault.New(fault.Conflict, err, "Somebody else changed the %s %s meanwhile. Look at it again.", what, name)
	case errors.As(err, &status) && !apierrors.IsServerTimeout(err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err) && !apierrors.IsTimeout(err):
		return err
	}
	return fault.New(fault.Unavailable, err, "The cluster does not answer right now. Nothing was changed by it; try again in a moment.")
}

// reason is the sentence of an admission policy or of validation that says why.
// RBAC's own words name verbs and resources, which help only who grants rights.
func reason(err error) string {
	text := err.Error()
	for _, mark := range []string{"denied request: ", "is invalid: "} {
		if _, after, found := strings.Cut(text, mark); found {
			return plan.Sanitize(after)
		}
	}
	return "Ask the platform team for the right if you need it."
}

func isNotFound(err error) bool { return fault.Is(err, fault.NotFound) }
