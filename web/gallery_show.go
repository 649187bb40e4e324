package web

import (
	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/components/gallery"
)

// showGallery handles GET /gallery: every component in every state, or with ?page=
// a page in one of them.
func (s *Server) showGallery(c echo.Context) error {
	theme := c.QueryParam("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	frame := s.shell(c, "Gallery")
	frame.Theme = theme
	return s.renderOK(c, gallery.Find(c.QueryParam("page"), frame))
}
