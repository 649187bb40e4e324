package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// listGoldenPaths handles GET /catalogue, searched by q and narrowed by tag.
func (s *Server) listGoldenPaths(c echo.Context) error {
	ctx, user := c.Request().Context(), user(c)
	paths, versions, err := s.Cluster.GoldenPaths(ctx, user)
	if err != nil {
		return err
	}
	services, err := s.Cluster.Services(ctx, user)
	if err != nil {
		return err
	}
	teams, err := s.Cluster.Teams(ctx, user)
	if err != nil {
		return err
	}
	query, tag := c.QueryParam("q"), c.QueryParam("tag")
	keep := url.Values{}
	if tag != "" {
		keep.Set("tag", tag)
	}
	view := page.CatalogueView{Shell: s.shell(c, "Golden paths"), Search: searchView("/catalogue", query, keep), Total: len(paths), Tags: tagFilters(paths, tag, query)}
	catalogue, used := program.NewCatalogue(versions), usage(services)
	for _, path := range paths {
		if tag != "" && !slices.Contains(path.Spec.Tags, tag) {
			continue
		}
		if matches(query, append([]string{path.Name, path.Spec.Title, path.Spec.Summary, path.Spec.Owner}, path.Spec.Tags...)...) {
			view.Cards = append(view.Cards, cardView(path, newest(catalogue, path.Name), total(used[path.Name]), len(teams) > 0))
		}
	}
	return s.renderOK(c, page.Catalogue(view))
}

// newest is the newest version that new changes may use, nil if there is none.
func newest(catalogue program.Catalogue, path string) *v1alpha1.GoldenPathVersion {
	names := catalogue.Versions(path)
	if len(names) == 0 {
		return nil
	}
	return catalogue.Version(path, names[0])
}

func tagFilters(paths []v1alpha1.GoldenPath, current, query string) []page.FilterView {
	var tags []string
	for _, path := range paths {
		tags = append(tags, path.Spec.Tags...)
	}
	slices.Sort(tags)
	views := []page.FilterView{{Text: "All", Current: current == ""}}
	for _, tag := range slices.Compact(tags) {
		views = append(views, page.FilterView{Text: safe(tag), URL: tag, Current: tag == current})
	}
	for i := range views {
		values := url.Values{}
		if tag := views[i].URL; tag != "" {
			values.Set("tag", tag)
		}
		if strings.TrimSpace(query) != "" {
			values.Set("q", query)
		}
		views[i].URL = withQuery("/catalogue", values)
	}
	return views
}
