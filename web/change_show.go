package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/web/kube"
)

// showChange handles GET /changes/:namespace/:name.
func (s *Server) showChange(c echo.Context) error {
	return s.answerChange(c, http.StatusOK, typed{})
}

// answerChange renders the page of a change, with what was typed into a form that
// was not accepted.
func (s *Server) answerChange(c echo.Context, status int, kept typed) error {
	ctx, user, now := c.Request().Context(), user(c), s.Clock.Now()
	change, err := s.Cluster.Change(ctx, user, c.Param("namespace"), c.Param("name"))
	if err != nil {
		return err
	}
	environments, err := s.Cluster.Environments(ctx, user)
	if err != nil {
		return err
	}
	r, err := s.reader(ctx, user, &change.ChangeRequest)
	if err != nil {
		return err
	}
	view := changeView(change, environments, r, kept, now)
	view.SupersededBy, err = s.successor(ctx, user, &change.ChangeRequest)
	if err != nil {
		return err
	}
	view.Shell = s.shell(c, view.Title+" – Changes")
	view.Shell.Invalid = kept.problem != ""
	if kept.problem != "" && !slices.ContainsFunc(view.Environments, func(e page.EnvironmentView) bool { return e.Form != nil && e.Form.Problem != "" }) {
		view.Shell.Notice = kept.problem // there is no form any more to say it at
	}
	self := changeURL(change.Namespace, change.Name)
	view.Live = components.LiveView{At: components.Moment(now, now), ReloadURL: self}
	if !change.Status.Phase.Done() {
		view.Live.URL = self + "/events?seen=" + changeVersion(change)
	}
	return s.render(c, status, page.Change(view))
}

// reader finds out what a person may do with a change.
func (s *Server) reader(ctx context.Context, user kube.User, cr *v1alpha1.ChangeRequest) (reader, error) {
	r := reader{user: user, mayReview: map[string]bool{}}
	var err error
	if r.mayPropose, err = s.Cluster.MayPropose(ctx, user, cr.Namespace); err != nil {
		return r, err
	}
	if cr.Status.Phase.Done() {
		return r, nil
	}
	if r.mayComment, err = s.Cluster.MayComment(ctx, user, cr.Namespace); err != nil {
		return r, err
	}
	if r.mayWithdraw, err = s.Cluster.MayWithdraw(ctx, user, cr); err != nil {
		return r, err
	}
	for _, sc := range cr.Status.Stacks {
		if r.mayReview[sc.Environment], err = s.Cluster.MayReview(ctx, user, cr.Namespace, sc.Environment); err != nil {
			return r, err
		}
	}
	return r, nil
}

// successor leads to the change that took the place of this one.
func (s *Server) successor(ctx context.Context, user kube.User, cr *v1alpha1.ChangeRequest) (components.LinkView, error) {
	if cr.Status.Phase != v1alpha1.ChangeSuperseded {
		return components.LinkView{}, nil
	}
	changes, err := s.Cluster.Changes(ctx, user)
	if err != nil {
		return components.LinkView{}, err
	}
	slices.Reverse(changes) // the oldest first: the next one after this
	for _, other := range changes {
		if other.Namespace == cr.Namespace && other.Spec.Service == cr.Spec.Service && other.Status.Phase != v1alpha1.ChangeRefused &&
			cr.CreationTimestamp.Before(&other.CreationTimestamp) {
			title, _ := titleOf(other)
			return components.LinkView{Text: title, URL: changeURL(other.Namespace, other.Name)}, nil
		}
	}
	return components.LinkView{}, nil
}

// changeVersion names the state of everything that the page of a change shows.
func changeVersion(change *kube.Change) string {
	objects := []client.Object{&change.ChangeRequest}
	for _, run := range change.Runs {
		objects = append(objects, run)
	}
	for _, review := range change.Reviews {
		objects = append(objects, review)
	}
	return versionOf(objects...)
}
