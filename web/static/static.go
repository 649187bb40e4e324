// Package static holds the files that pages refer to: one stylesheet, one script,
// one icon. Their URLs carry a digest of their content, so that browsers may keep
// them for ever.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed app.css live.js icon.svg
var files embed.FS

// File is a static file as it is served.
type File struct {
	// URL path: /static/app.1f2e3d4c5b6a.css.
	URL         string
	ContentType string
	Content     []byte
}

// The files by name.
var (
	Stylesheet = mustRead("app.css", "text/css; charset=utf-8")
	Script     = mustRead("live.js", "text/javascript; charset=utf-8")
	Icon       = mustRead("icon.svg", "image/svg+xml")
)

// All are the files to serve, each at exactly its URL.
func All() []File {
	return []File{Stylesheet, Script, Icon}
}

func mustRead(name, contentType string) File {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		panic(fmt.Sprintf("read embedded file %q: %v", name, err))
	}
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return File{
		URL:         "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
		ContentType: contentType,
		Content:     content,
	}
}
