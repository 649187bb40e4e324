package web

import (
	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
)

// showRun handles GET /runs/:namespace/:name.
func (s *Server) showRun(c echo.Context) error {
	ctx, user, now := c.Request().Context(), user(c), s.Clock.Now()
	run, err := s.Cluster.Run(ctx, user, c.Param("namespace"), c.Param("name"))
	if err != nil {
		return err
	}
	view := runView(run, now)
	view.Shell = s.shell(c, view.Title+" – Runs")
	self := runURL(run.Namespace, run.Name)
	view.Live = components.LiveView{At: components.Moment(now, now), ReloadURL: self}
	if !run.Status.Phase.Done() {
		view.Live.URL = self + "/events?seen=" + run.ResourceVersion
	}
	return s.renderOK(c, page.Run(view))
}
