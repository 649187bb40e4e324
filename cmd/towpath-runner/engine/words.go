package engine

import (
	"regexp"
	"strings"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/scrub"
)

// longest bounds a failure's text: the log has all of it.
const longest = 4000

// describe is what the engine said was wrong: its diagnostics, or else what the
// language host or the CLI wrote on standard error.
func describe(err error, seen *report) string {
	var said []string
	if seen != nil {
		for _, text := range seen.errors {
			said = append(said, tidy(text))
		}
		if len(said) == 0 {
			said = problems(strings.Join(seen.complaints, "\n"))
		}
	}
	if len(said) == 0 {
		said = []string{tidy(standardError(err.Error()))}
	}
	text := strings.Join(distinct(said), "; ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + " …"
	}
	return text
}

// distinct leaves out what is empty, said before, or a mere consequence.
func distinct(said []string) []string {
	var kept []string
	for _, text := range said {
		skip := text == "" || consequence.MatchString(text)
		for _, other := range kept {
			skip = skip || strings.Contains(other, text)
		}
		if !skip {
			kept = append(kept, text)
		}
	}
	if len(kept) == 0 {
		return said
	}
	return kept
}

var (
	consequence = regexp.MustCompile(`(?i)^(preview|update) failed$|client connection is closing|^expected resource operations for .* but none were seen$`)
	prefixes    = regexp.MustCompile(`^(error: |Preview failed: |update failed: |an unhandled error occurred: |\d+ errors? occurred:|waiting for RPCs: |\* )`)
	urnInText   = regexp.MustCompile(`(?:resource )?"?urn:pulumi:[^\s"]+"?`)
	repetition  = regexp.MustCompile(`^Cannot assign '\{.*:$`)
	source      = regexp.MustCompile(`^(on \S+ line \d+:|\d+: .*)$`)
)

// tidy takes out of a message what helps nobody: prefixes that only say that it
// is an error, URNs in full, the patterns of API validation, excerpts of a file
// that nobody wrote in this form.
func tidy(text string) string {
	text = strings.TrimSpace(scrub.Plain(text))
	for prefixes.MatchString(text) {
		text = strings.TrimSpace(prefixes.ReplaceAllString(text, ""))
	}
	text = urnInText.ReplaceAllStringFunc(text, shortName)
	text = stripPatterns(text)
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "* "))
		if line != "" && !source.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return strings.TrimRight(strings.Join(lines, " "), " .;")
}

// shortName is a URN as people say it: Deployment web.
func shortName(urn string) string {
	trailing := ""
	urn = strings.Trim(strings.TrimPrefix(urn, "resource "), `"`)
	if trimmed := strings.TrimRight(urn, ":,.;"); trimmed != urn {
		urn, trailing = trimmed, urn[len(trimmed):]
	}
	parts := strings.Split(urn, "::")
	if len(parts) < 4 {
		return urn + trailing
	}
	typ := parts[2][strings.LastIndexAny(parts[2], ":$")+1:]
	return typ + " " + strings.Join(parts[3:], "::") + trailing
}

// stripPatterns removes the examples and regular expressions that the API server
// appends to each problem; they hold brackets, so they are found by their ends.
func stripPatterns(text string) string {
	const begin, end = " (e.g. ", "')"
	for {
		from := strings.Index(text, begin)
		if from < 0 {
			return text
		}
		pattern := strings.Index(text[from:], "regex used for validation is '")
		if pattern < 0 {
			return text
		}
		to := strings.Index(text[from+pattern:], end+",")
		if to < 0 {
			to = strings.LastIndex(text[from+pattern:], end)
		}
		if to < 0 {
			return text
		}
		text = text[:from] + text[from+pattern+to+len(end):]
	}
}

// problems reads the language host's report of what is wrong with a program: each
// begins with "Error:", an excerpt of the file and details may follow.
func problems(text string) []string {
	var found []string
	for line := range strings.Lines(scrub.Plain(text)) {
		line = strings.TrimSpace(line)
		switch problem, begins := strings.CutPrefix(line, "Error: "); {
		case line == "" || source.MatchString(line) || repetition.MatchString(line):
		case begins || len(found) == 0:
			found = append(found, problem)
		default:
			found[len(found)-1] += "; " + line
		}
	}
	return found
}

// standardError cuts the standard error out of an Automation API error.
func standardError(text string) string {
	text = scrub.Plain(text)
	_, stderr, found := strings.Cut(text, "\nstderr: ")
	if !found {
		return text
	}
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "warning: ") {
			continue
		}
		lines = append(lines, strings.TrimPrefix(line, "error: "))
	}
	if len(lines) == 0 {
		return text
	}
	return strings.Join(lines, " ")
}
