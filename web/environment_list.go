package web

import (
	"maps"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// shownTeams bounds how many teams are looked at for what the reader may do.
const shownTeams = 20

// listEnvironments handles GET /environments: the rules of each in plain words.
func (s *Server) listEnvironments(c echo.Context) error {
	ctx, user := c.Request().Context(), user(c)
	environments, err := s.Cluster.Environments(ctx, user)
	if err != nil {
		return err
	}
	changes, err := s.Cluster.Changes(ctx, user)
	if err != nil {
		return err
	}
	teams := map[string]bool{}
	for _, cr := range changes {
		if len(teams) < shownTeams {
			teams[cr.Namespace] = true
		}
	}
	view := page.EnvironmentsView{Shell: s.shell(c, "Environments")}
	view.Order = orderView(environments, func(environment v1alpha1.Environment) components.OrderNodeView {
		return components.OrderNodeView{
			Name: safe(environment.Name), URL: "#environment-" + environment.Name, Detail: approvals(environment),
		}
	})
	for _, environment := range environments {
		var mayReview []string
		for _, team := range slices.Sorted(maps.Keys(teams)) {
			may, err := s.Cluster.MayReview(ctx, user, team, environment.Name)
			if err != nil {
				return err
			}
			if may {
				mayReview = append(mayReview, team)
			}
		}
		view.Environments = append(view.Environments, rulesView(environment, mayReview))
	}
	return s.renderOK(c, page.Environments(view))
}

// approvals is the rule in a few words.
func approvals(environment v1alpha1.Environment) string {
	text := plural(max(int(environment.Spec.Approval.Required), 1), "approval", "approvals")
	if len(environment.Spec.AutoApprove) > 0 {
		return "by itself, or " + text
	}
	return text
}
