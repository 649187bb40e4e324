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
