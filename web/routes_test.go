package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Whoever asks: nobody, somebody whose session has ended, and people by role.
var everybody = []string{"nobody", "expired", "viewer", "stranger", "developer", "approver", "platform"}

// want is the status for each of everybody, in that order.
type want [7]int

const (
	ok        = http.StatusOK
	seeOther  = http.StatusSeeOther
	missing   = http.StatusNotFound
	forbidden = http.StatusForbidden
	noSession = http.StatusUnauthorized
)

// browsers are everybody's, signed in once.
func (p *portal) browsers(t *testing.T) map[string]*browser {
	t.Helper()
	all := map[string]*browser{"nobody": p.visitor(t), "expired": p.expired}
	for _, name := range everybody[2:] {
		all[name] = p.signedIn(t, name)
	}
	return all
}

func TestEveryPageAnswersEachRoleAsItShould(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	one.service(t)
	cr := one.change(t, p, "developer", "developer")
	at := one.namespace + "/"
	browsers := p.browsers(t)
	everyone := want{seeOther, seeOther, ok, ok, ok, ok, ok}
	inside := want{seeOther, seeOther, ok, missing, ok, ok, ok}
	for name, test := range map[string]struct {
		path string
		want want
	}{
		"home is for everybody":             {"/", everyone},
		"the catalogue is for everybody":    {"/catalogue", everyone},
		"a golden path is for everybody":    {"/golden-paths/postgres", everyone},
		"the environments are too":          {"/environments", everyone},
		"lists show what one may see":       {"/changes", everyone},
		"services too":                      {"/services", everyone},
		"the form is for those who propose": {"/compose", want{seeOther, seeOther, forbidden, ok, ok, forbidden, forbidden}},
		"the form of a service is for its team": {
			"/compose?namespace=" + one.namespace + "&service=orders", want{seeOther, seeOther, forbidden, missing, ok, forbidden, forbidden},
		},
		"a change is not found by others":      {"/changes/" + at + cr.Name, inside},
		"a service is not found by others":     {"/services/" + at + "orders", inside},
		"a run is not found by others":         {"/runs/" + at + cr.Name + "-preview", inside},
		"what is not there is found by nobody": {"/changes/" + at + "nothing", want{seeOther, seeOther, missing, missing, missing, missing, missing}},
		"there is no such golden path":         {"/golden-paths/nothing", want{seeOther, seeOther, missing, missing, missing, missing, missing}},
		"machines ask without a session":       {"/healthz", want{ok, ok, ok, ok, ok, ok, ok}},
		"and whether all is ready":             {"/readyz", want{ok, ok, ok, ok, ok, ok, ok}},
		"sign-in leads on":                     {"/sign-in", want{seeOther, seeOther, seeOther, seeOther, seeOther, seeOther, seeOther}},
		"signed out is a page":                 {"/signed-out", want{ok, ok, ok, ok, ok, ok, ok}},
		"signed in is a page for people":       {"/signed-in", everyone},
		"an unknown file":                      {"/static/app.css", want{missing, missing, missing, missing, missing, missing, missing}},
		"no page at all":                       {"/nothing", want{missing, missing, missing, missing, missing, missing, missing}},
		"no gallery outside of development":    {"/gallery", want{missing, missing, missing, missing, missing, missing, missing}},
		"no metrics unless asked for":          {"/metrics", want{missing, missing, missing, missing, missing, missing, missing}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, who := range everybody {
				answer := browsers[who].get(t, test.path)
				if answer.StatusCode != test.want[i] {
					t.Errorf("%s gets %d; want %d: %s", who, answer.StatusCode, test.want[i], answer.text(t))
				}
				if who == "stranger" && test.path != "/compose" && strings.Contains(answer.body, "Bigger database") {
					t.Error("stranger reads of a change of another team")
				}
			}
		})
	}
}

func TestEveryChangeAnswersEachRoleAsItShould(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	one.service(t)
	browsers := p.browsers(t)
	said := url.Values{"environment": {"test"}, "planDigest": {digest}, "comment": {"Looked at it."}}
	for name, test := range map[string]struct {
		verb string
		want want
	}{
		"approvers approve":                     {"approve", want{noSession, noSession, forbidden, missing, forbidden, seeOther, forbidden}},
		"approvers reject":                      {"reject", want{noSession, noSession, forbidden, missing, forbidden, seeOther, forbidden}},
		"those who propose or approve comment":  {"comment", want{noSession, noSession, forbidden, missing, seeOther, seeOther, forbidden}},
		"the author and approvers may withdraw": {"withdraw", want{noSession, noSession, forbidden, missing, seeOther, seeOther, forbidden}},
	} {
		for i, who := range everybody {
			t.Run(name+": "+who, func(t *testing.T) {
				t.Parallel()
				cr := one.change(t, p, "developer", "developer")
				answer := browsers[who].post(t, "/changes/"+one.namespace+"/"+cr.Name+"/"+test.verb, said)
				if answer.StatusCode != test.want[i] {
					t.Errorf("%s gets %d; want %d: %s", who, answer.StatusCode, test.want[i], answer.text(t))
				}
				done := answer.StatusCode == seeOther
				if test.verb == "withdraw" {
					if withdrawn(t, cr) != done {
						t.Errorf("withdrawn is %v after %d", !done, answer.StatusCode)
					}
					return
				}
				if written := len(reviewsOf(t, cr)) > 0; written != done {
					t.Errorf("a review written: %v, after %d", written, answer.StatusCode)
				}
			})
		}
	}
}

func withdrawn(t *testing.T, cr *v1alpha1.ChangeRequest) bool {
	t.Helper()
	var stored v1alpha1.ChangeRequest
	if err := cluster.Admin(t).Get(t.Context(), key(cr), &stored); err != nil {
		t.Fatal(err)
	}
	return stored.Spec.Withdrawn
}

// guards says of every route who may pass.
var guards = map[string]string{
	"GET /healthz": "open", "GET /readyz": "open", "GET /static/:file": "open",
	"GET /sign-in": "open", "GET /sign-in/callback": "open", "GET /signed-out": "open", "POST /sign-out": "open",
	"GET /signed-in": "people", "GET /": "people", "GET /events": "people",
	"GET /catalogue": "people", "GET /golden-paths/:name": "people", "GET /environments": "people",
	"GET /compose": "people", "POST /compose": "people",
	"GET /changes": "people", "GET /changes/:namespace/:name": "team", "GET /changes/:namespace/:name/events": "team",
	"POST /changes/:namespace/:name/approve": "team", "POST /changes/:namespace/:name/reject": "team",
	"POST /changes/:namespace/:name/comment": "team", "POST /changes/:namespace/:name/withdraw": "team",
	"GET /services": "people", "GET /services/:namespace/:name": "team", "GET /services/:namespace/:name/events": "team",
	"GET /runs/:namespace/:name": "team", "GET /runs/:namespace/:name/events": "team",
}

// No route can be added without a guard being chosen for it here.
func TestEveryRouteIsGuarded(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	one.service(t)
	cr := one.change(t, p, "developer", "developer")
	browsers := p.browsers(t)
	for _, route := range p.routes {
		if route.Method == echo.RouteNotFound {
			continue
		}
		name := map[bool]string{true: "orders", false: cr.Name}[strings.HasPrefix(route.Path, "/services/")]
		if strings.HasPrefix(route.Path, "/runs/") {
			name += "-preview"
		}
		if strings.HasPrefix(route.Path, "/golden-paths/") {
			name = "postgres"
		}
		path := strings.NewReplacer(":namespace", one.namespace, ":name", name, ":file", "app.css").Replace(route.Path)
		t.Run(route.Method+" "+route.Path, func(t *testing.T) {
			guard, known := guards[route.Method+" "+route.Path]
			if !known {
				t.Fatal("nobody has said who may pass")
			}
			header := http.Header{}
			refused := seeOther // led to the sign-in
			if strings.HasSuffix(path, "/events") {
				header.Set("Accept", "text/event-stream")
				refused = noSession
			}
			if route.Method == http.MethodPost {
				refused = noSession
			}
			for _, who := range []string{"nobody", "expired"} {
				answer := browsers[who].send(t, route.Method, p.url+path, nil, header)
				if guard == "open" && answer.StatusCode == noSession {
					t.Errorf("%s is asked to sign in", who)
				}
				if guard != "open" && (answer.StatusCode != refused || refused == seeOther && !strings.HasPrefix(answer.Header.Get("Location"), "/sign-in?")) {
					t.Errorf("%s gets %d, led to %q; want %d", who, answer.StatusCode, answer.Header.Get("Location"), refused)
				}
			}
			if guard == "team" {
				if answer := browsers["stranger"].send(t, route.Method, p.url+path, nil, header); answer.StatusCode != missing {
					t.Errorf("stranger gets %d; want %d", answer.StatusCode, missing)
				}
			}
			if path == "/" {
				return // there are not many ways to spell it
			}
			last := strings.LastIndex(path, "/")
			for _, spelling := range []string{
				path + "%2F", path[:last+1] + "%2F" + path[last+1:], "/" + path, path[:last] + "/" + path[last:], path + ";x", path + "%00", path + "/.",
				strings.ToUpper(path), path[:1] + "%" + fmt.Sprintf("%x", path[1]) + path[2:],
			} {
				for _, who := range []string{"nobody", "platform"} {
					if answer := browsers[who].raw(t, route.Method, spelling); answer.StatusCode != missing {
						t.Errorf("%s gets %d of %s; want %d", who, answer.StatusCode, spelling, missing)
					}
				}
			}
		})
	}
	if have := len(p.routes); have < len(guards) {
		t.Errorf("there are %d routes and %d guards: one is of a route that is gone", have, len(guards))
	}
}

func TestOddSpellingsAreNotFound(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	one.service(t)
	cr := one.change(t, p, "developer", "developer")
	browsers := p.browsers(t)
	change := "/changes/" + one.namespace + "/" + cr.Name
	for name, test := range map[string]struct {
		path string
		want int
	}{
		"an escaped slash":                {"/changes/" + one.namespace + "%2F" + cr.Name, missing},
		"an escaped slash at the end":     {change + "%2f", missing},
		"an escaped letter":               {"/%63hanges/" + one.namespace + "/" + cr.Name, missing},
		"two slashes at the front":        {"//changes", missing},
		"two slashes inside":              {"/changes//" + cr.Name, missing},
		"a path parameter":                {change + ";x", missing},
		"a path parameter before a slash": {"/changes;x/" + one.namespace + "/" + cr.Name, missing},
		"capital letters":                 {"/Changes", missing},
		"a dot":                           {"/./changes", missing},
		"two dots":                        {"/static/../changes", missing},
		"escaped dots":                    {"/static/%2e%2e/changes", missing},
		"a backslash":                     {`/\changes`, missing},
		"a suffix that opens elsewhere":   {change + "/healthz", missing},
		"a null byte":                     {change + "%00", missing},
		"a slash at the end of a page":    {change + "/", http.StatusPermanentRedirect},
		"a slash at the end of a list":    {"/changes/", http.StatusPermanentRedirect},
	} {
		t.Run(name, func(t *testing.T) {
			for _, who := range everybody {
				answer := browsers[who].raw(t, http.MethodGet, test.path)
				if answer.StatusCode != test.want {
					t.Errorf("%s gets %d; want %d", who, answer.StatusCode, test.want)
				}
				if to := answer.Header.Get("Location"); to != "" && "/"+strings.Trim(to, "/") != strings.TrimSuffix(test.path, "/") {
					t.Errorf("%s is led to %s", who, to)
				}
			}
		})
	}
}

// raw asks for a path exactly as it is spelt.
func (b *browser) raw(t *testing.T, method, path string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, b.portal.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = "//" + request.URL.Host + path
	request.RequestURI = ""
	response, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return reply{response, ""}
}

func TestNoChangeByGetOrFromAnotherSite(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	change := "/changes/" + one.namespace + "/" + cr.Name
	said := url.Values{"environment": {"test"}, "planDigest": {digest}, "comment": {"x"}, "action": {"submit"}}
	approver, developer := p.signedIn(t, "approver"), p.signedIn(t, "developer")
	for path, who := range map[string]*browser{
		change + "/approve": approver, change + "/reject": approver, change + "/comment": approver, change + "/withdraw": developer,
		"/compose": developer, "/sign-out": developer,
	} {
		t.Run(path, func(t *testing.T) {
			for name, header := range map[string]http.Header{
				"another site's form":           {"Sec-Fetch-Site": {"cross-site"}},
				"a neighbour's form":            {"Sec-Fetch-Site": {"same-site"}},
				"an old browser's foreign form": {"Origin": {"https://evil.example"}},
			} {
				if answer := who.send(t, http.MethodPost, p.url+path, said, header); answer.StatusCode != forbidden {
					t.Errorf("%s gets %d; want %d", name, answer.StatusCode, forbidden)
				}
			}
			if path == "/compose" {
				return // its GET is the empty form
			}
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete} {
				if answer := who.raw(t, method, path+"?"+said.Encode()); answer.StatusCode != http.StatusMethodNotAllowed {
					t.Errorf("%s gets %d; want %d", method, answer.StatusCode, http.StatusMethodNotAllowed)
				}
			}
		})
	}
	if reviews := reviewsOf(t, cr); len(reviews) > 0 || withdrawn(t, cr) {
		t.Errorf("something was done: %v", reviews)
	}
	if answer := developer.get(t, "/changes"); answer.StatusCode != ok {
		t.Error("the developer was signed out")
	}
}

func TestAnotherHostIsMisdirected(t *testing.T) {
	t.Parallel()
	p := startPortal(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "rebound.example"
	response, err := p.visitor(t).client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("it answers %d; want %d", response.StatusCode, http.StatusMisdirectedRequest)
	}
}
