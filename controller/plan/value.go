package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Pulumi marks special values by a key with a fixed signature.
const (
	signatureKey    = "4dabf18193072939515e22adb298388d"
	secretSignature = "1b47061264138c4ac30d75fd1eb44270"
	outputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
	unknownValue    = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
)

// What people read in the place of values that cannot be shown.
const (
	secretText  = "[secret]"
	unknownText = "[unknown]"
)

// maxValue is how many bytes of one value a plan shows.
const maxValue = 1 << 10

// isSecret reports whether an object stands for a secret.
func isSecret(object map[string]any) bool {
	switch object[signatureKey] {
	case secretSignature:
		return true
	case outputSignature:
		secret, _ := object["secret"].(bool)
		return secret
	}
	return false
}

// mask returns a value as people may see it.
func mask(v any) any {
	switch v := v.(type) {
	case string:
		if v == unknownValue {
			return unknownText
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = mask(item)
		}
		return out
	case map[string]any:
		if isSecret(v) {
			return secretText
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = mask(item)
		}
		return out
	}
	return v
}

// shown returns a masked value as JSON of at most about maxValue bytes; one that
// is longer becomes a text that says so.
func shown(v any) *apiextensionsv1.JSON {
	v = mask(v)
	if text, ok := v.(string); ok {
		return &apiextensionsv1.JSON{Raw: encode(cut(text, maxValue))}
	}
	raw := encode(v)
	if len(raw) > maxValue {
		raw = encode(cut(string(raw), maxValue))
	}
	return &apiextensionsv1.JSON{Raw: raw}
}

// encode writes JSON for people: <, > and & stay as they are. Values come from
// JSON, so they always go back to it.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("plan: a value that was read from JSON cannot be written: %v", err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// cut shortens a text to about limit bytes and says how much is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	kept := s[:runeStart(s, limit)]
	return fmt.Sprintf("%s… (%d of %d bytes not shown)", kept, len(s)-len(kept), len(s))
}

// aroundChange shortens two texts longer than limit to where they differ, so that
// a change deep inside a long value cannot hide behind a cut.
func aroundChange(before, after string, limit int) (string, string) {
	if len(before) <= limit && len(after) <= limit {
		return before, after
	}
	context := limit / 16
	room := limit - limit/4 // leaves place for the words around
	shorter := min(len(before), len(after))
	prefix := 0
	for prefix < shorter && before[prefix] == after[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < shorter-prefix && before[len(before)-1-suffix] == after[len(after)-1-suffix] {
		suffix++
	}
	from := runeStart(before, max(0, prefix-context))
	tail := max(0, suffix-context)
	window := func(s string) string {
		end := len(s) - tail
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		var b strings.Builder
		if from > 0 {
			fmt.Fprintf(&b, "(%d bytes unchanged) …", from)
		}
		b.WriteString(cut(s[from:end], room))
		if end < len(s) {
			fmt.Fprintf(&b, "… (%d bytes unchanged)", len(s)-end)
		}
		return b.String()
	}
	return window(before), window(after)
}

// runeStart moves an index back to the start of the rune it is in.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
