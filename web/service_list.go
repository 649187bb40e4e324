package web

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components/page"
	"github.com/towpath-dev/towpath/web/kube"
)

// listServices handles GET /services, searched by q.
func (s *Server) listServices(c echo.Context) error {
	ctx, user, now := c.Request().Context(), user(c), s.Clock.Now()
	services, err := s.Cluster.Services(ctx, user)
	if err != nil {
		return err
	}
	environments, err := s.Cluster.Environments(ctx, user)
	if err != nil {
		return err
	}
	teams, err := s.Cluster.Teams(ctx, user)
	if err != nil {
		return err
	}
	query := c.QueryParam("q")
	var found []kube.Service
	for _, service := range services {
		if matches(query, service.Name, service.Namespace) {
			found = append(found, service)
		}
	}
	view := page.ServicesView{Shell: s.shell(c, "Services"), Search: searchView("/services", query, url.Values{})}
	if len(teams) > 0 {
		view.ComposeURL = "/compose"
	}
	from, to, pages := paginate(c, "/services", len(found), url.Values{})
	view.Pages = pages
	rank := ranks(environments)
	for _, service := range found[from:to] {
		view.Services = append(view.Services, serviceRow(service, rank, now))
	}
	return s.renderOK(c, page.Services(view))
}
