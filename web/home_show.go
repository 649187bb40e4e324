package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/web/kube"
)

// shownAtHome bounds each list of the first page; the rest is a click away.
const shownAtHome = 10

// showHome handles GET /: what waits for the reader, what is theirs, what moved.
func (s *Server) showHome(c echo.Context) error {
	found, err := s.home(c.Request().Context(), user(c))
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	view := found.view(now)
	view.Shell = s.shell(c, "Home")
	view.Live = components.LiveView{URL: "/events?seen=" + found.version(), At: components.Moment(now, now), ReloadURL: "/"}
	return s.renderOK(c, page.Home(view))
}

// streamHome handles GET /events: the lists of the first page, as they move.
func (s *Server) streamHome(c echo.Context) error {
	user := user(c)
	return s.stream(c, kube.AnyTopic(), paceOverview, func(ctx context.Context) (scene, error) {
		found, err := s.home(ctx, user)
		if err != nil {
			return scene{}, err
		}
		return scene{
			version: found.version(),
			parts:   []part{{"lists", page.HomeLists(found.view(s.Clock.Now())), page.HomeLists(found.view(time.Time{})), waitingSentence(len(found.waiting))}},
		}, nil
	})
}

// home is what the first page shows to a person.
type home struct {
	waiting               []wanted
	mine                  []*v1alpha1.ChangeRequest
	moved                 []kube.Service
	rank                  map[string]int
	mayPropose, mayReview bool
}

func (s *Server) home(ctx context.Context, user kube.User) (home, error) {
	var found home
	changes, err := s.Cluster.Changes(ctx, user)
	if err != nil {
		return found, err
	}
	environments, err := s.Cluster.Environments(ctx, user)
	if err != nil {
		return found, err
	}
	services, err := s.Cluster.Services(ctx, user)
	if err != nil {
		return found, err
	}
	teams, err := s.Cluster.Teams(ctx, user)
	if err != nil {
		return found, err
	}
	asked, err := s.askedOf(ctx, user, changes, environments)
	if err != nil {
		return found, err
	}
	found.waiting, found.mayPropose, found.mayReview = asked.changes, len(teams) > 0, asked.mayReview
	if !found.mayReview {
		if found.mayReview, err = s.reviewsAnywhere(ctx, user, services, environments); err != nil {
			return found, err
		}
	}
	for _, cr := range changes {
		if cr.Spec.Author.Username == user.Username && len(found.mine) < shownAtHome {
			found.mine = append(found.mine, cr)
		}
	}
	found.moved, found.rank = lastMoved(services), ranks(environments)
	return found, nil
}

// view is the first page without its frame.
func (h home) view(now time.Time) page.HomeView {
	view := page.HomeView{CatalogueURL: "/catalogue", ChangesURL: "/changes", MayPropose: h.mayPropose, MayReview: h.mayReview}
	if h.mayPropose {
		view.ComposeURL = "/compose"
	}
	for _, wanted := range h.waiting {
		view.Waiting = append(view.Waiting, changeRow(wanted.change, wanted.needs, now))
	}
	for _, cr := range h.mine {
		view.Mine = append(view.Mine, changeRow(cr, "", now))
	}
	for _, service := range h.moved {
		view.Moved = append(view.Moved, serviceRow(service, h.rank, now))
	}
	return view
}

// version names the state of everything that the page shows.
func (h home) version() string {
	var objects []client.Object
	for _, wanted := range h.waiting {
		objects = append(objects, wanted.change)
	}
	for _, cr := range h.mine {
		objects = append(objects, cr)
	}
	for _, service := range h.moved {
		for _, stack := range service.Stacks {
			objects = append(objects, stack)
		}
	}
	return versionOf(objects...)
}

func waitingSentence(changes int) string {
	switch changes {
	case 0:
		return "Nothing waits for you."
	case 1:
		return "One change waits for you."
	}
	return fmt.Sprintf("%d changes wait for you.", changes)
}

// reviewsAnywhere reports whether a person reviews for any of the teams that they
// see, as far as it is worth asking.
func (s *Server) reviewsAnywhere(ctx context.Context, user kube.User, services []kube.Service, environments []v1alpha1.Environment) (bool, error) {
	asked := map[string]bool{}
	for _, service := range services {
		if asked[service.Namespace] || len(asked) >= shownTeams {
			continue
		}
		asked[service.Namespace] = true
		for _, environment := range environments {
			if may, err := s.Cluster.MayReview(ctx, user, service.Namespace, environment.Name); err != nil || may {
				return may, err
			}
		}
	}
	return false, nil
}

func lastMoved(services []kube.Service) []kube.Service {
	type moved struct {
		at      time.Time
		service kube.Service
	}
	all := make([]moved, 0, len(services))
	for _, service := range services {
		all = append(all, moved{movedAt(service), service})
	}
	slices.SortStableFunc(all, func(a, b moved) int { return b.at.Compare(a.at) })
	top := make([]kube.Service, 0, shownAtHome)
	for _, m := range all[:min(shownAtHome, len(all))] {
		top = append(top, m.service)
	}
	return top
}

// matches reports whether a list's search finds something in any of the texts.
func matches(query string, texts ...string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return query == "" || slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(strings.ToLower(text), query)
	})
}
