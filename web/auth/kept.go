package auth

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxForm is how much of a form is kept: more than any Program may have.
const maxForm = 4 << 20

// KeptForm is a form that was sent when there was no session any more. Nothing
// of it is lost, and nothing of it is stored here: the answer carries it back to
// the browser as hidden fields, to be sent again once the person has signed in
// in another tab. So it works on every replica, for any time, without script,
// and whoever is not signed in can make the portal keep nothing.
type KeptForm struct {
	// Action is where the form went: a local path.
	Action string
	// Fields are all that was in it. They are the person's own input, as they
	// sent it a moment ago: escape, but do not change.
	Fields []Field
	// Kept is false if the form could not be read, or is too large.
	Kept bool
	// SignIn is the address to sign in at, for a link that opens a new tab.
	SignIn string
}

// Field is a name with a value of a form.
type Field struct{ Name, Value string }

func keepForm(w http.ResponseWriter, r *http.Request) KeptForm {
	form := KeptForm{
		Action: localPath(r.URL.RequestURI()),
		SignIn: SignInPath + "?" + url.Values{"next": {SignedInPath}}.Encode(),
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return form
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return form
	}
	for name, values := range r.PostForm {
		for _, value := range values {
			form.Fields = append(form.Fields, Field{Name: name, Value: value})
		}
	}
	// Values of one name keep their order.
	slices.SortStableFunc(form.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	form.Kept = true
	return form
}
