package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/towpath-dev/towpath/components"
)

func usedBy(n int) string {
	switch n {
	case 0:
		return "Not used yet"
	case 1:
		return "Used by 1 service"
	}
	return fmt.Sprintf("Used by %d services", n)
}

// wanted are the environments that wait for the reader, each with the way to it.
func (v ChangeView) wanted() []components.LinkView {
	var links []components.LinkView
	for _, e := range v.Environments {
		if e.Current {
			links = append(links, components.LinkView{Text: e.Name, URL: "#" + e.ID + "-detail"})
		}
	}
	return links
}

// reviewed reports whether there is something to read of reviews.
func (v EnvironmentView) reviewed() bool {
	return v.Editors != "" || v.Approval == "" && v.Rule != "" || len(v.Reviews) > 0
}

// lowerFirst continues a sentence.
func lowerFirst(s string) string {
	return strings.ToLower(s[:1]) + s[1:]
}

// shownOutputs are the chosen ones, for people.
func shownOutputs(outputs []components.FieldView) string {
	var names []string
	for _, o := range outputs {
		if o.Checked {
			names = append(names, o.Label)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func problemCount(n int) string {
	if n == 1 {
		return "1 problem"
	}
	return fmt.Sprintf("%d problems", n)
}

// groupID names a group, so that a live page can keep it open.
func groupID(instance string, n int) string {
	return fmt.Sprintf("%s-group-%d", instance, n)
}

// words are what a page says of a status when nobody knows better.
type words struct {
	title, message string
}

func problemWords(status int) words {
	switch status {
	case 401:
		return words{"Your session has ended", "Sign in again to go on. Nothing that was saved is lost."}
	case 403:
		return words{"You may not do this", "Your account does not have the permission for it. Ask the platform team, and give them the request id below."}
	case 404:
		return words{"Page not found", "There is nothing at this address, or nothing that you may see."}
	case 409:
		return words{"Somebody was faster", "What you looked at has changed in the meantime. Look again, then decide."}
	case 413:
		return words{"Too much at once", "What was sent is bigger than a proposal can be."}
	case 422:
		return words{"This cannot be accepted as it is", "Something in what you sent is not right. Go back, mend it and send it again."}
	case 429:
		return words{"Too many attempts", "Wait a minute, then try again."}
	case 503:
		return words{"Towpath cannot reach Kubernetes", "What runs keeps running. Try again in a moment; if it lasts, tell the platform team."}
	}
	return words{"Something went wrong", "It was not your fault. Try again; if it happens again, tell the platform team the request id below."}
}

func (v ProblemView) title() string {
	return cmp.Or(v.Title, problemWords(v.Status).title)
}

func (v ProblemView) message() string {
	return cmp.Or(v.Message, problemWords(v.Status).message)
}

// initial stands for a person where there is no picture.
func initial(name string) string {
	for _, r := range name {
		return strings.ToUpper(string(r))
	}
	return "?"
}
