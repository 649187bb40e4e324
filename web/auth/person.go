package auth

import "context"

// Person is somebody who has signed in. Username and Groups are those that
// Kubernetes knows, prefixes included; Name and Email are for showing only, and
// may be empty. The slice is shared: do not change it.
type Person struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups,omitempty"`
	Name     string   `json:"name,omitempty"`
	Email    string   `json:"email,omitempty"`
}

// visit is what Load found out about a request.
type visit struct {
	person Person
	// id is the session's; empty without a session.
	id string
	// err is set if it could not be found out.
	err error
}

type visitKey struct{}

func withVisit(ctx context.Context, v visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

func visitFrom(ctx context.Context) visit {
	v, _ := ctx.Value(visitKey{}).(visit)
	return v
}

// FromContext returns who is signed in. Without a session, and for a person
// without a username, it returns false: nobody may act as the empty user, whom
// Kubernetes takes for the portal itself.
func FromContext(ctx context.Context) (Person, bool) {
	v := visitFrom(ctx)
	if checkName(v.person.Username) != nil {
		return Person{}, false
	}
	return v.person, true
}
