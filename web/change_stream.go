package web

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	"github.com/towpath-dev/towpath/web/kube"
)

// streamChange handles GET /changes/:namespace/:name/events: the parts of the page
// of a change, as they move.
func (s *Server) streamChange(c echo.Context) error {
	user, namespace, name := user(c), c.Param("namespace"), c.Param("name")
	return s.stream(c, kube.ChangeTopic(namespace, name), pace, func(ctx context.Context) (scene, error) {
		change, err := s.Cluster.Change(ctx, user, namespace, name)
		if err != nil {
			return scene{}, err
		}
		environments, err := s.Cluster.Environments(ctx, user)
		if err != nil {
			return scene{}, err
		}
		r, err := s.reader(ctx, user, &change.ChangeRequest)
		if err != nil {
			return scene{}, err
		}
		now := s.Clock.Now()
		view := changeView(change, environments, r, typed{}, now)
		steady := changeView(change, environments, r, typed{}, time.Time{})
		live := components.LiveView{At: components.Moment(now, now), ReloadURL: changeURL(namespace, name)}
		if !change.Status.Phase.Done() {
			live.URL = live.ReloadURL + "/events?seen=" + changeVersion(change)
		}
		view.Live = live
		next := scene{
			version: changeVersion(change), done: change.Status.Phase.Done(),
			parts: []part{{"head", page.ChangeHead(view), page.ChangeHead(steady), view.Status.Text + ". " + view.Message}},
		}
		for i, environment := range view.Environments {
			next.parts = append(next.parts, part{
				environment.ID, page.Environment(environment), page.Environment(steady.Environments[i]),
				environment.Name + ": " + environment.Status.Text + ".",
			})
		}
		next.parts = append(next.parts, part{"history", page.ChangeHistory(view), page.ChangeHistory(steady), ""})
		return next, nil
	})
}
