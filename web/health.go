package web

import (
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"
)

// showHealth answers GET /healthz: the process is alive.
func (s *Server) showHealth(c echo.Context) error {
	return c.String(http.StatusOK, "ok\n")
}

// showReadiness answers GET /readyz: pages can be answered.
func (s *Server) showReadiness(c echo.Context) error {
	if err := s.Cluster.Ready(c.Request().Context()); err != nil {
		s.Log.WarnContext(c.Request().Context(), "not ready", slog.Any("err", err))
		return c.String(http.StatusServiceUnavailable, "not ready\n")
	}
	return c.String(http.StatusOK, "ok\n")
}
