package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// withdrawChange handles POST /changes/:namespace/:name/withdraw.
func (s *Server) withdrawChange(c echo.Context) error {
	ctx, user := c.Request().Context(), user(c)
	change, err := s.Cluster.Change(ctx, user, c.Param("namespace"), c.Param("name"))
	if err != nil {
		return err
	}
	if err := s.Cluster.Withdraw(ctx, user, change.Namespace, change.Name); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, changeURL(change.Namespace, change.Name)+"?done=withdrawn")
}
