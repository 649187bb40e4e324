package web

import (
	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
)

// showService handles GET /services/:namespace/:name.
func (s *Server) showService(c echo.Context) error {
	ctx, user, now := c.Request().Context(), user(c), s.Clock.Now()
	service, err := s.Cluster.Service(ctx, user, c.Param("namespace"), c.Param("name"))
	if err != nil {
		return err
	}
	environments, err := s.Cluster.Environments(ctx, user)
	if err != nil {
		return err
	}
	mayPropose, err := s.Cluster.MayPropose(ctx, user, service.Namespace)
	if err != nil {
		return err
	}
	view := serviceView(service, environments, mayPropose, now)
	view.Shell = s.shell(c, view.Name+" – Services")
	view.Live = components.LiveView{At: components.Moment(now, now), ReloadURL: serviceURL(service.Namespace, service.Name)}
	return s.renderOK(c, page.Service(view))
}
