package scrub

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// formsOf lists what a secret may look like: as it is, each of its lines, and
// each of these escaped or encoded.
func formsOf(secret string) []string {
	raw := []string{secret}
	if strings.ContainsAny(secret, "\r\n") {
		raw = append(raw, strings.TrimSpace(secret))
		for line := range strings.Lines(secret) {
			raw = append(raw, strings.TrimSpace(line))
		}
	}
	var forms []string
	for _, value := range raw {
		if exempt(value) {
			continue
		}
		escaped := jsonEscape(value)
		forms = append(forms,
			value,
			escaped, jsonEscape(escaped),
			hex.EncodeToString([]byte(value)),
			strings.ToUpper(hex.EncodeToString([]byte(value))),
			url.QueryEscape(value), url.PathEscape(value),
		)
		forms = append(forms, base64Forms(value)...)
	}
	return forms
}

// jsonEscape is the inside of the JSON string, with < > & as they are: so do the
// engine and the API server write them.
func jsonEscape(value string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return value
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(out.String()), `"`), `"`)
}

// leastShifted is the length below which a piece of base64 is too common.
const leastShifted = 6

// base64Forms are the encodings of the value alone and of the value in the
// middle of something longer ("user:password"), where its first byte may fall on
// any of three places and only the characters in the middle are its own.
func base64Forms(value string) []string {
	std := base64.StdEncoding.EncodeToString([]byte(value))
	forms := []string{std, strings.TrimRight(std, "=")}
	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
		from := (shift*8 + 5) / 6
		to := (shift + len(value)) * 8 / 6
		if to-from >= leastShifted {
			forms = append(forms, encoded[from:to])
		}
	}
	toURL := strings.NewReplacer("+", "-", "/", "_")
	for _, form := range forms[:len(forms):len(forms)] {
		forms = append(forms, toURL.Replace(form))
	}
	return forms
}
