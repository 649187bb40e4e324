package web

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/internal/fault"
)

// showGoldenPath handles GET /golden-paths/:name, in the version that the query
// names or in the newest one.
func (s *Server) showGoldenPath(c echo.Context) error {
	ctx, user := c.Request().Context(), user(c)
	paths, all, err := s.Cluster.GoldenPaths(ctx, user)
	if err != nil {
		return err
	}
	name := c.Param("name")
	at := slices.IndexFunc(paths, func(p v1alpha1.GoldenPath) bool { return p.Name == name })
	if at < 0 {
		return fault.New(fault.NotFound, nil, "There is no golden path %s in the catalogue.", safe(name))
	}
	versions := versionsOf(all, name)
	catalogue := program.NewCatalogue(versions)
	shown := newest(catalogue, name)
	if wanted := c.QueryParam("version"); wanted != "" {
		if shown = catalogue.Version(name, wanted); shown == nil {
			return fault.New(fault.NotFound, nil, "Golden path %s has no such version.", safe(name))
		}
	}
	if shown == nil && len(versions) > 0 {
		shown = &versions[0]
	}
	services, err := s.Cluster.Services(ctx, user)
	if err != nil {
		return err
	}
	teams, err := s.Cluster.Teams(ctx, user)
	if err != nil {
		return err
	}
	view, err := goldenPathView(paths[at], versions, shown, services, len(teams) > 0, s.Clock.Now())
	if err != nil {
		return err
	}
	view.Shell = s.shell(c, view.Title+" – Golden paths")
	return s.renderOK(c, page.GoldenPath(view))
}

// versionsOf are the versions of one golden path, the newest first.
func versionsOf(all []v1alpha1.GoldenPathVersion, name string) []v1alpha1.GoldenPathVersion {
	var versions []v1alpha1.GoldenPathVersion
	for _, version := range all {
		if version.Spec.GoldenPath == name {
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, func(a, b v1alpha1.GoldenPathVersion) int {
		va, errA := semver.NewVersion(a.Spec.Version)
		vb, errB := semver.NewVersion(b.Spec.Version)
		if errA != nil || errB != nil {
			return 0
		}
		return vb.Compare(va)
	})
	return versions
}
