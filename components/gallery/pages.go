package gallery

import (
	"time"

	"github.com/a-h/templ"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	"github.com/towpath-dev/towpath/components/shell"
)

// Page is a page in one state.
type Page struct {
	Name string
	Page templ.Component
}

// Pages are all pages in all states, within a frame that has the theme and the
// assets of base; who is signed in there is made up.
func Pages(base shell.View) []Page {
	f := frame(base)
	return []Page{
		{"home", page.Home(home(f))},
		{"home-newcomer", page.Home(page.HomeView{Shell: f.at("Home"), MayPropose: true, ComposeURL: "/compose", CatalogueURL: "/catalogue", ChangesURL: "/changes"})},
		{"home-viewer", page.Home(page.HomeView{Shell: f.at("Home"), CatalogueURL: "/catalogue"})},
		{"changes", page.Changes(changes(f))},
		{"changes-not-found", page.Changes(page.ChangesView{Shell: f.at("Changes"), Search: page.SearchView{Action: "/changes", Query: "nothing like it"}})},
		{"change", page.Change(change(f))},
		{"change-new", page.Change(changeNew(f))},
		{"change-refused", page.Change(changeRefused(f))},
		{"change-rejected", page.Change(changeRejected(f))},
		{"change-failed", page.Change(changeFailed(f))},
		{"compose", page.Compose(compose(f))},
		{"compose-new", page.Compose(composeNew(f))},
		{"services", page.Services(page.ServicesView{Shell: f.at("Services"), Search: page.SearchView{Action: "/services"}, Services: serviceRows(), ComposeURL: "/compose"})},
		{"service", page.Service(service(f))},
		{"run", page.Run(run(f))},
		{"run-diverged", page.Run(runDiverged(f))},
		{"catalogue", page.Catalogue(catalogue(f))},
		{"catalogue-empty", page.Catalogue(page.CatalogueView{Shell: f.at("Golden paths")})},
		{"golden-path", page.GoldenPath(goldenPath(f))},
		{"environments", page.Environments(environments(f))},
		{"signed-out", page.SignedOut(page.SignedOutView{Shell: f.stranger("Sign in"), SignInURL: "/sign-in", Message: "You signed out."})},
		{"dev-sign-in", page.DevSignIn(devSignIn(f))},
		{"session-ended", page.SessionEnded(formKept(f))},
		{"signed-in", page.SignedIn(page.SignedInView{Shell: f.at("Signed in"), HomeURL: "/"})},
		{"problem-401", page.Problem(sessionEnded(f))},
		{"problem-403", page.Problem(problem(f, 403))},
		{"problem-404", page.Problem(problem(f, 404))},
		{"problem-422", page.Problem(problem(f, 422))},
		{"problem-429", page.Problem(problem(f, 429))},
		{"problem-500", page.Problem(problem(f, 500))},
		{"problem-503", page.Problem(problem(f, 503))},
		{"problem-503-form", page.Problem(formAgain(f))},
	}
}

// Find is the page in the state that is called name, or the whole gallery.
func Find(name string, base shell.View) templ.Component {
	for _, p := range Pages(base) {
		if p.Name == name {
			return p.Page
		}
	}
	return Gallery(base)
}

// frame is the shell of the gallery's pages.
type frame shell.View

// at is the frame of a page in the navigation.
func (f frame) at(title string) shell.View {
	v := f.stranger(title)
	v.Development = true
	v.Person = &shell.PersonView{Name: "approver", Username: "approver", SignOutURL: "/sign-out"}
	for _, n := range []shell.NavView{
		{Text: "Home", URL: "/"},
		{Text: "Services", URL: "/services"},
		{Text: "Changes", URL: "/changes"},
		{Text: "Golden paths", URL: "/catalogue"},
		{Text: "Environments", URL: "/environments"},
	} {
		n.Current = n.Text == title
		v.Nav = append(v.Nav, n)
	}
	return v
}

// under is the frame of a page below one of the navigation.
func (f frame) under(section, title string) shell.View {
	v := f.at(section)
	v.Title = title + " · " + section
	return v
}

func (f frame) stranger(title string) shell.View {
	return shell.View{Title: title, Theme: f.Theme, Assets: f.Assets, RequestID: "7f3a9c21"}
}

func problem(f frame, status int) page.ProblemView {
	return page.ProblemView{Shell: f.at("Problem"), Status: status, Next: []components.LinkView{{Text: "Go home", URL: "/"}}}
}

func formAgain(f frame) page.ProblemView {
	v := problem(f, 503)
	v.Again = &page.AgainView{Action: "/compose", Fields: []components.HiddenView{{Name: "service", Value: "orders"}, {Name: "action", Value: "submit"}}}
	return v
}

func sessionEnded(f frame) page.ProblemView {
	return page.ProblemView{
		Shell: f.stranger("Problem"), Status: 401,
		Next: []components.LinkView{{Text: "Sign in again", URL: "/sign-in"}},
		Lost: []page.FactView{{Name: "comment", Value: "Looks right, but is there a backup from today?"}},
	}
}

func formKept(f frame) page.SessionEndedView {
	return page.SessionEndedView{
		Shell: f.stranger("Session ended"), SignInURL: "/sign-in?next=/signed-in", Action: "/changes/shop/orders-7k2/comment", Kept: true,
		Fields: []components.HiddenView{{Name: "environment", Value: "prod"}, {Name: "comment", Value: "Is there a backup from today?"}},
	}
}

func devSignIn(f frame) page.DevSignInView {
	v := f.stranger("Sign in")
	v.Development = true
	return page.DevSignInView{
		Shell: v, Action: "/dev/sign-in", Problem: "That account does not exist. Choose one of these.",
		Accounts: []page.AccountView{
			{Username: "developer", Name: "developer", Does: "composes services and proposes changes in shop"},
			{Username: "approver", Name: "approver", Does: "reviews plans for test and prod"},
			{Username: "platform", Name: "platform", Does: "looks after golden paths and environments"},
		},
	}
}

func changeRows() []components.ChangeRowView {
	place := func(name string, counts components.CountsView) components.ChangePlaceView {
		return components.ChangePlaceView{Environment: name, Counts: counts, Planned: true, Status: tag(components.Wait, "Waiting for review")}
	}
	return []components.ChangeRowView{
		{
			Title: "orders: bigger database, three web replicas", URL: "/changes/shop/orders-7k2", Namespace: "shop", Service: "orders", Author: "developer",
			Status: tag(components.Wait, "Waiting for review"), Gravest: "Replaces a volume", Needs: "your review of prod", Since: before(18 * time.Minute),
			Places: []components.ChangePlaceView{place("dev", components.CountsView{Update: 2}), place("test", components.CountsView{Update: 2}), place("prod", components.CountsView{Update: 1, Replace: 1})},
		},
		{
			Title: "billing: new worker", URL: "/changes/finance/billing-3xk", Namespace: "finance", Service: "billing", Author: "developer2",
			Status: tag(components.Busy, "Applying"), Gravest: "Only creates", Since: before(2 * time.Hour),
			Places: []components.ChangePlaceView{place("dev", components.CountsView{Create: 4}), {Environment: "test", Status: tag(components.Busy, "Previewing")}},
		},
		{
			Title: "search: retire the old cache", URL: "/changes/shop/search-1ab", Namespace: "shop", Service: "search", Author: "developer",
			Status: tag(components.Bad, "Failed"), Gravest: "Deletes a StatefulSet", Since: before(30 * time.Hour),
			Places: []components.ChangePlaceView{place("test", components.CountsView{Delete: 6}), place("prod", components.CountsView{})},
		},
	}
}

func serviceRows() []components.ServiceRowView {
	return []components.ServiceRowView{
		{Name: "orders", URL: "/services/shop/orders", Namespace: "shop", Moved: before(time.Minute), Places: []components.ServicePlaceView{
			{Environment: "dev", Status: tag(components.Good, "Healthy"), Revision: "revision 14"},
			{Environment: "test", Status: tag(components.Busy, "Applying"), Revision: "revision 14"},
			{Environment: "prod", Status: tag(components.Wait, "Waiting for review"), Revision: "revision 13"},
		}},
		{Name: "billing", URL: "/services/finance/billing", Namespace: "finance", Moved: before(2 * time.Hour), Places: []components.ServicePlaceView{
			{Environment: "dev", Status: tag(components.Good, "Healthy"), Revision: "revision 3"},
			{Environment: "test", Status: tag(components.Bad, "Degraded"), Revision: "revision 2"},
		}},
	}
}

func home(f frame) page.HomeView {
	return page.HomeView{
		Shell: f.at("Home"), Live: components.LiveView{URL: "/events", At: before(0), ReloadURL: "/"},
		Waiting: changeRows()[:1], Mine: changeRows()[1:], Moved: serviceRows(), MayReview: true, MayPropose: true,
		ComposeURL: "/compose", CatalogueURL: "/catalogue", ChangesURL: "/changes",
	}
}

func changes(f frame) page.ChangesView {
	return page.ChangesView{
		Shell: f.at("Changes"), Search: page.SearchView{Action: "/changes"}, ComposeURL: "/compose", Changes: changeRows(),
		Filters: []page.FilterView{{Text: "Open", URL: "/changes", Current: true}, {Text: "Waiting for review", URL: "/changes?show=review"}, {Text: "All", URL: "/changes?show=all"}},
		Pages:   page.PagesView{Text: "51 to 100 of 312", PreviousURL: "/changes?page=1", NextURL: "/changes?page=3"},
	}
}
