package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/web/static"
)

// asset is a static file, ready to be sent.
type asset struct {
	static.File
	gzipped []byte
}

// loadAssets compresses the static files once, by the path that each has.
func loadAssets() (map[string]asset, error) {
	all := map[string]asset{}
	for _, file := range static.All() {
		var gzipped bytes.Buffer
		writer, err := gzip.NewWriterLevel(&gzipped, gzip.BestCompression)
		if err != nil {
			return nil, fmt.Errorf("compress %q: %w", file.URL, err)
		}
		if _, err := writer.Write(file.Content); err != nil {
			return nil, fmt.Errorf("compress %q: %w", file.URL, err)
		}
		if err := writer.Close(); err != nil {
			return nil, fmt.Errorf("compress %q: %w", file.URL, err)
		}
		all[file.URL] = asset{File: file, gzipped: gzipped.Bytes()}
	}
	return all, nil
}

// showAsset answers GET /static/:file. It knows its files by name; there is no
// folder to walk.
func (s *Server) showAsset(c echo.Context) error {
	file, ok := s.assets[c.Request().URL.Path]
	if !ok {
		return echo.ErrNotFound
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Add("Vary", "Accept-Encoding")
	content := file.Content
	if strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = file.gzipped
	}
	return c.Blob(http.StatusOK, file.ContentType, content)
}
