package auth

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	home    = "/"
	maxNext = 1024
)

// localPath returns next if it is a path of this portal, and home otherwise. It
// takes only what has one reading: no host, no backslash, no control character
// in any spelling, no empty or relative segment.
func localPath(next string) string {
	if len(next) > maxNext || !strings.HasPrefix(next, "/") || strings.Contains(next, " ") || !plain(next) {
		return home
	}
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || !plain(u.Path) {
		return home
	}
	segments := strings.Split(u.Path[1:], "/")
	last := len(segments) - 1
	if segments[last] == "" {
		// A slash at the end, or the root.
		segments = segments[:last]
	}
	if slices.ContainsFunc(segments, func(s string) bool { return s == "" || s == "." || s == ".." }) {
		return home
	}
	// To sign in is never where somebody wanted to go.
	if u.Path == SignInPath || strings.HasPrefix(u.Path, SignInPath+"/") {
		return home
	}
	u.Fragment, u.RawFragment = "", ""
	return u.RequestURI()
}

// plain reports whether a text has no characters that browsers drop or take for
// slashes.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '\\' || unicode.IsControl(r) || unicode.IsSpace(r) && r != ' '
	})
}
