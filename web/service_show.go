package web

import (
	"context"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/web/kube"
)

// showService handles GET /services/:namespace/:name.
func (s *Server) showService(c echo.Context) error {
	found, err := s.service(c.Request().Context(), user(c), c.Param("namespace"), c.Param("name"))
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	view := found.view(now)
	view.Shell = s.shell(c, view.Name+" – Services")
	self := serviceURL(found.Namespace, found.Name)
	view.Live = components.LiveView{URL: self + "/events?seen=" + found.version(), At: components.Moment(now, now), ReloadURL: self}
	return s.renderOK(c, page.Service(view))
}

// streamService handles GET /services/:namespace/:name/events: what the page of a
// service shows, as it moves.
func (s *Server) streamService(c echo.Context) error {
	user, namespace, name := user(c), c.Param("namespace"), c.Param("name")
	return s.stream(c, kube.ServiceTopic(namespace, name), paceOverview, func(ctx context.Context) (scene, error) {
		found, err := s.service(ctx, user, namespace, name)
		if err != nil {
			return scene{}, err
		}
		view := found.view(s.Clock.Now())
		return scene{
			version: found.version(),
			parts:   []part{{"now", page.ServiceNow(view), page.ServiceNow(found.view(time.Time{})), whereabouts(view.Places)}},
		}, nil
	})
}

// whereabouts is where a service stands, in one sentence for each environment.
func whereabouts(places []page.PlaceView) string {
	var sentences []string
	for _, place := range places {
		sentences = append(sentences, place.Environment+": "+place.Status.Text+".")
	}
	return strings.Join(sentences, " ")
}

// service is what the page of a service shows to a person.
type service struct {
	*kube.ServiceHistory
	environments []v1alpha1.Environment
	mayPropose   bool
}

func (s *Server) service(ctx context.Context, user kube.User, namespace, name string) (service, error) {
	var found service
	var err error
	if found.ServiceHistory, err = s.Cluster.Service(ctx, user, namespace, name); err != nil {
		return found, err
	}
	if found.environments, err = s.Cluster.Environments(ctx, user); err != nil {
		return found, err
	}
	found.mayPropose, err = s.Cluster.MayPropose(ctx, user, namespace)
	return found, err
}

func (s service) view(now time.Time) page.ServiceView {
	return serviceView(s.ServiceHistory, s.environments, s.mayPropose, now)
}

// version names the state of everything that the page shows.
func (s service) version() string {
	var objects []client.Object
	if s.Program != nil {
		objects = append(objects, s.Program)
	}
	for _, stack := range s.Stacks {
		objects = append(objects, stack)
	}
	for _, cr := range s.Changes {
		objects = append(objects, cr)
	}
	for _, run := range s.Applies {
		objects = append(objects, run)
	}
	return versionOf(objects...)
}
