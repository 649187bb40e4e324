package issuer

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	"github.com/towpath-dev/towpath/components/shell"
	"github.com/towpath-dev/towpath/web/static"
)

const maxForm = 4 << 10

// signIn is the page on which people choose who to be.
type signIn struct {
	people []Person
	store  *storage
}

// show handles GET /sign-in.
func (s *signIn) show(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	if !s.store.waiting(id) {
		s.render(w, r, http.StatusNotFound, "", "This sign-in is over or unknown. Go back to the portal and sign in again.")
		return
	}
	s.render(w, r, http.StatusOK, id, "")
}

// choose handles POST /sign-in.
func (s *signIn) choose(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	id, username := r.PostFormValue("id"), r.PostFormValue("username")
	known := slices.ContainsFunc(s.people, func(p Person) bool { return p.Username == username })
	if !known {
		s.render(w, r, http.StatusUnprocessableEntity, id, "Choose one of these people.")
		return
	}
	if !s.store.finish(id, username) {
		s.render(w, r, http.StatusNotFound, "", "This sign-in is over or unknown. Go back to the portal and sign in again.")
		return
	}
	http.Redirect(w, r, callbackPath+"?"+url.Values{"id": {id}}.Encode(), http.StatusSeeOther)
}

// render answers with the page; without an id nobody can be chosen.
func (s *signIn) render(w http.ResponseWriter, r *http.Request, status int, id, problem string) {
	view := page.DevSignInView{
		Shell: shell.View{
			Title:       "Sign in",
			Invalid:     problem != "",
			Development: true,
			Assets: shell.AssetsView{
				Stylesheet: static.Stylesheet.URL, Script: static.Script.URL, Icon: static.Icon.URL,
			},
		},
		Action:  signInPath,
		Problem: problem,
	}
	if id != "" {
		view.Hidden = []components.HiddenView{{Name: "id", Value: id}}
		for _, p := range s.people {
			view.Accounts = append(view.Accounts, page.AccountView{Username: p.Username, Name: p.Name, Does: p.Does, Groups: p.Groups})
		}
	}
	var body bytes.Buffer
	if err := page.DevSignIn(view).Render(r.Context(), &body); err != nil {
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// A reader that is gone misses nothing.
	_, _ = body.WriteTo(w)
}
