package web

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	"github.com/towpath-dev/towpath/web/kube"
)

// streamRun handles GET /runs/:namespace/:name/events: the parts of the page of a
// run, as they move.
func (s *Server) streamRun(c echo.Context) error {
	user, namespace, name := user(c), c.Param("namespace"), c.Param("name")
	return s.stream(c, kube.RunTopic(namespace, name), pace, func(ctx context.Context) (scene, error) {
		run, err := s.Cluster.Run(ctx, user, namespace, name)
		if err != nil {
			return scene{}, err
		}
		now := s.Clock.Now()
		view, steady := runView(run, now), runView(run, time.Time{})
		view.Live = components.LiveView{At: components.Moment(now, now), ReloadURL: runURL(namespace, name)}
		return scene{
			version: run.ResourceVersion, done: run.Status.Phase.Done(),
			parts: []part{
				{"head", page.RunHead(view), page.RunHead(steady), view.Status.Text + ". " + view.Message},
				{"result", page.RunPlan(view), page.RunPlan(steady), ""},
				{"log", components.Log(view.Log), components.Log(steady.Log), ""},
			},
		}, nil
	})
}
