package shell

// title is what tabs, bookmarks and screen readers begin with.
func (v View) title() string {
	title := "Towpath"
	if v.Title != "" {
		title = v.Title + " · " + title
	}
	if v.Invalid {
		title = "Problem: " + title
	}
	return title
}

// about is what the foot of a page says of the portal.
func (v View) about() string {
	if v.Development {
		return "Towpath for development: accounts without passwords, data on this machine"
	}
	return "Towpath"
}
