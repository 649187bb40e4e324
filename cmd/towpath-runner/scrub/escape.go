package scrub

import (
	"regexp"
	"strings"
)

// terminalCodes are ANSI sequences (colours, cursor, links) and the engine's own
// colour directives.
var terminalCodes = regexp.MustCompile("\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\\\-_]|<\\{%[^%]*%\\}>")

// Plain gives text without terminal codes and control characters, so that a log
// can neither colour nor forge what a reader sees.
func Plain(text string) string {
	text = terminalCodes.ReplaceAllString(text, "")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return -1
		}
		return r
	}, text)
}
