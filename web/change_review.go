package web

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/fault"
	"github.com/towpath-dev/towpath/web/kube"
)

// maxComment is what a Review takes, in characters.
const maxComment = 4000

// approveChange handles POST /changes/:namespace/:name/approve.
func (s *Server) approveChange(c echo.Context) error {
	return s.review(c, v1alpha1.Approve, "approved")
}

// rejectChange handles POST /changes/:namespace/:name/reject.
func (s *Server) rejectChange(c echo.Context) error {
	return s.review(c, v1alpha1.Reject, "rejected")
}

// commentChange handles POST /changes/:namespace/:name/comment.
func (s *Server) commentChange(c echo.Context) error {
	return s.review(c, v1alpha1.Comment, "commented")
}

// review records what a person says of the plan that they saw. Who may do so is
// for admission to judge; what is asked here before is what gives a better answer.
func (s *Server) review(c echo.Context, decision v1alpha1.Decision, done string) error {
	ctx, user := c.Request().Context(), user(c)
	change, err := s.Cluster.Change(ctx, user, c.Param("namespace"), c.Param("name"))
	if err != nil {
		return err
	}
	if err := parseForm(c); err != nil {
		return err
	}
	form := c.Request().PostForm
	kept := typed{environment: form.Get("environment"), comment: strings.TrimSpace(form.Get("comment"))}
	sc := stackChange(change, kept.environment)
	if sc == nil {
		return fault.New(fault.NotFound, nil, "The change does not go to that environment.")
	}
	switch {
	case decision != v1alpha1.Approve && kept.comment == "":
		kept.problem = "Say why, so that others can follow."
	case utf8.RuneCountInString(kept.comment) > maxComment:
		kept.problem = "The comment is too long: at most 4,000 characters."
	}
	if kept.problem != "" {
		return s.answerChange(c, http.StatusUnprocessableEntity, kept)
	}
	if kept.problem = stale(change, sc, form.Get("planDigest")); kept.problem != "" {
		return s.answerChange(c, http.StatusConflict, kept)
	}
	if decision == v1alpha1.Approve {
		if err := s.checkApproval(ctx, user, change, sc); err != nil {
			return err
		}
	}
	written, err := s.Cluster.Review(ctx, user, &change.ChangeRequest, v1alpha1.ReviewSpec{
		ChangeRequest: change.Name, Environment: v1alpha1.EnvironmentName(sc.Environment),
		PlanDigest: sc.Plan.Digest, Decision: decision, Comment: kept.comment,
	})
	if err != nil {
		return err
	}
	if counts := written.Status.Counts; decision != v1alpha1.Comment && counts != nil && !*counts {
		done = "not-counted"
	}
	return c.Redirect(http.StatusSeeOther, changeURL(change.Namespace, change.Name)+"?done="+done)
}

func stackChange(change *kube.Change, environment string) *v1alpha1.StackChange {
	for i := range change.Status.Stacks {
		if sc := &change.Status.Stacks[i]; sc.Environment == environment {
			return sc
		}
	}
	return nil
}

// stale says why the plan that a person saw can no longer be reviewed, empty if
// it can.
func stale(change *kube.Change, sc *v1alpha1.StackChange, digest string) string {
	switch {
	case change.Status.Phase.Done():
		return "The change has ended meanwhile, so nothing was recorded."
	case sc.Plan == nil:
		return "There is no plan to review at the moment: a new one is being made. Nothing was recorded."
	case digest != sc.Plan.Digest:
		return "The plan has changed since you opened the page, so nothing was recorded. This is the new one; look at it again."
	case !undecided(sc.Phase):
		return "The plan is past review, so nothing was recorded."
	}
	return ""
}

// checkApproval refuses an approval that the gate would not count, with its words.
func (s *Server) checkApproval(ctx context.Context, user kube.User, change *kube.Change, sc *v1alpha1.StackChange) error {
	environments, err := s.Cluster.Environments(ctx, user)
	if err != nil {
		return err
	}
	for _, environment := range environments {
		if environment.Name != sc.Environment {
			continue
		}
		if objection := objectionTo(&change.ChangeRequest, sc, environment, user); objection != "" {
			return fault.New(fault.Forbidden, nil, "%s", safe(objection))
		}
	}
	return nil
}

// parseForm reads a posted form. A form that does not parse is the sender's fault.
func parseForm(c echo.Context) error {
	if err := c.Request().ParseForm(); err != nil {
		if status, _, _ := judge(err); status == http.StatusRequestEntityTooLarge {
			return err
		}
		return fault.New(fault.Invalid, err, "The form could not be read. Go back and send it again.")
	}
	return nil
}
