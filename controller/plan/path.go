package plan

import (
	"strconv"
	"strings"
)

// path is a parsed property path; each element is a string key or an int index.
type path []any

// parsePath reads Pulumi's property path syntax: a.b[0]["c.d"]. What does not
// parse is one key, so that a strange path is still shown as the engine gave it.
func parsePath(s string) path {
	var p path
	for rest := s; rest != ""; {
		switch {
		case rest[0] == '.':
			rest = rest[1:]
		case strings.HasPrefix(rest, `["`):
			key, after, ok := quotedKey(rest[2:])
			if !ok {
				return path{s}
			}
			p, rest = append(p, key), after
		case rest[0] == '[':
			index, after, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.Atoi(index)
			if !ok || err != nil {
				return path{s}
			}
			p, rest = append(p, n), after
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			p, rest = append(p, rest[:end]), rest[end:]
		}
	}
	return p
}

// quotedKey reads a key up to its closing quote and bracket.
func quotedKey(s string) (key, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			b.WriteByte('"')
			i++
		case s[i] == '"':
			if i+1 >= len(s) || s[i+1] != ']' {
				return "", "", false
			}
			return b.String(), s[i+2:], true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// String writes the path as Pulumi does.
func (p path) String() string {
	var b strings.Builder
	for _, element := range p {
		switch element := element.(type) {
		case int:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(element))
			b.WriteByte(']')
		case string:
			switch {
			case element == "" || strings.ContainsAny(element, `.[]"`):
				b.WriteString(`["` + strings.ReplaceAll(element, `"`, `\"`) + `"]`)
			default:
				if b.Len() > 0 {
					b.WriteByte('.')
				}
				b.WriteString(element)
			}
		}
	}
	return b.String()
}

// with returns the path one element longer; it never shares memory.
func (p path) with(element any) path {
	out := make(path, len(p), len(p)+1)
	copy(out, p)
	return append(out, element)
}

// internal reports whether the path is the provider's own bookkeeping. Keys of
// this kind further down are somebody's data, save for __defaults, which bridged
// providers write at every level.
func (p path) internal() bool {
	for i, element := range p {
		key, ok := element.(string)
		if ok && (key == "__defaults" || i == 0 && strings.HasPrefix(key, "__")) {
			return true
		}
	}
	return false
}

// value is a property that may be absent, which is not the same as null.
type value struct {
	v  any
	ok bool
}

// lookup finds a property. Below a secret or an unknown value there is only that
// secret or unknown value.
func lookup(root map[string]any, p path) value {
	var v any = root
	for _, element := range p {
		switch at := v.(type) {
		case map[string]any:
			if isSecret(at) {
				return value{at, true}
			}
			key, isKey := element.(string)
			next, found := at[key]
			if !isKey || !found {
				return value{}
			}
			v = next
		case []any:
			i, isIndex := element.(int)
			if !isIndex || i < 0 || i >= len(at) {
				return value{}
			}
			v = at[i]
		case string:
			if at == unknownValue {
				return value{at, true}
			}
			return value{}
		default:
			return value{}
		}
	}
	return value{v, true}
}
