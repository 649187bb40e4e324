package web

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// pageSize is how many rows a list shows at once: 40 KB of it are a lot already.
const pageSize = 50

// listChanges handles GET /changes: all that the reader may see, searched by q and
// narrowed by show.
func (s *Server) listChanges(c echo.Context) error {
	ctx, user, now := c.Request().Context(), user(c), s.Clock.Now()
	changes, err := s.Cluster.Changes(ctx, user)
	if err != nil {
		return err
	}
	teams, err := s.Cluster.Teams(ctx, user)
	if err != nil {
		return err
	}
	query, show := c.QueryParam("q"), c.QueryParam("show")
	var found []*v1alpha1.ChangeRequest
	for _, cr := range changes {
		if shows(show, cr, user.Username) && matches(query, cr.Name, cr.Spec.Service, cr.Namespace, cr.Spec.Author.Username, cr.Spec.Description) {
			found = append(found, cr)
		}
	}
	keep := url.Values{}
	if show != "" {
		keep.Set("show", show)
	}
	view := page.ChangesView{
		Shell: s.shell(c, "Changes"), Search: searchView("/changes", query, keep), Filters: changeFilters(show, query),
	}
	if len(teams) > 0 {
		view.ComposeURL = "/compose"
	}
	from, to, pages := paginate(c, "/changes", len(found), keep)
	view.Pages = pages
	for _, cr := range found[from:to] {
		view.Changes = append(view.Changes, changeRow(cr, "", now))
	}
	return s.renderOK(c, page.Changes(view))
}

func shows(filter string, cr *v1alpha1.ChangeRequest, username string) bool {
	switch filter {
	case "open":
		return !cr.Status.Phase.Done()
	case "review":
		return cr.Status.Phase == v1alpha1.ChangeInReview
	case "mine":
		return cr.Spec.Author.Username == username
	case "ended":
		return cr.Status.Phase.Done()
	}
	return true
}

func changeFilters(current, query string) []page.FilterView {
	var views []page.FilterView
	for _, filter := range []struct{ key, text string }{
		{"", "All"}, {"open", "Open"}, {"review", "Waiting for review"}, {"mine", "Mine"}, {"ended", "Ended"},
	} {
		values := url.Values{}
		if filter.key != "" {
			values.Set("show", filter.key)
		}
		if query != "" {
			values.Set("q", query)
		}
		views = append(views, page.FilterView{Text: filter.text, URL: withQuery("/changes", values), Current: filter.key == current})
	}
	return views
}

func searchView(action, query string, keep url.Values) page.SearchView {
	view := page.SearchView{Action: action, Query: safe(query)}
	for _, name := range slices.Sorted(maps.Keys(keep)) {
		view.Hidden = append(view.Hidden, components.HiddenView{Name: name, Value: keep.Get(name)})
	}
	return view
}

func withQuery(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// paginate says which rows the page in the query shows, and where the others are.
func paginate(c echo.Context, path string, total int, keep url.Values) (from, to int, view page.PagesView) {
	number, err := strconv.Atoi(c.QueryParam("page"))
	if err != nil || number < 1 || (number-1)*pageSize >= total {
		number = 1
	}
	from = (number - 1) * pageSize
	to = min(from+pageSize, total)
	if total <= pageSize {
		return from, to, view
	}
	at := func(n int) string {
		values := url.Values{"page": {strconv.Itoa(n)}}
		for name := range keep {
			values.Set(name, keep.Get(name))
		}
		if query := c.QueryParam("q"); query != "" {
			values.Set("q", query)
		}
		return withQuery(path, values)
	}
	view.Text = fmt.Sprintf("%d to %d of %d", from+1, to, total)
	if number > 1 {
		view.PreviousURL = at(number - 1)
	}
	if to < total {
		view.NextURL = at(number + 1)
	}
	return from, to, view
}
