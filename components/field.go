package components

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
)

func (v FieldView) wired() bool {
	return v.Wire != nil && v.Wire.Wired != ""
}

// shortDefault reports whether the default fits beside the label.
func (v FieldView) shortDefault() bool {
	const fits = 24
	return v.Default != "" && v.Kind != Select && utf8.RuneCountInString(v.Default) <= fits && !strings.Contains(v.Default, "\n")
}

// hint is the hint with what belongs to it.
func (v FieldView) hint() string {
	if v.Default == "" || v.shortDefault() || v.Kind == Select {
		return v.Hint
	}
	return strings.TrimSpace(v.Hint + " Default: " + v.Default)
}

// describes are the ids of the texts that explain the control.
func (v FieldView) describes() string {
	var ids []string
	if v.hint() != "" {
		ids = append(ids, v.ID+"-hint")
	}
	if v.Problem != "" {
		ids = append(ids, v.ID+"-problem")
	}
	return strings.Join(ids, " ")
}

// attributes are those that every kind of control shares. The server checks
// again; these spare people a round trip.
func (v FieldView) attributes() templ.OrderedAttributes {
	var a templ.OrderedAttributes
	add := func(name string, value any) {
		a = append(a, templ.KeyValue[string, any]{Key: name, Value: value})
	}
	if ids := v.describes(); ids != "" {
		add("aria-describedby", ids)
	}
	if v.Problem != "" {
		add("aria-invalid", "true")
	}
	if v.MaxLength > 0 && v.Kind != Select && v.Kind != Checkbox {
		add("maxlength", fmt.Sprint(v.MaxLength))
	}
	switch v.Kind {
	case Number:
		add("inputmode", "decimal")
	case List, KeyValue:
		add("spellcheck", "false")
	case Text, Password, LongText, Select, Checkbox:
	}
	return a
}

func (v FieldView) checkValue() string {
	return cmp.Or(v.Value, "true")
}

func (v FieldView) rows() string {
	lines := strings.Count(v.Value, "\n") + 1
	return fmt.Sprint(min(max(lines, 3), 12))
}

// value is what was chosen or typed, for people.
func (v FieldView) value() string {
	if v.Kind != Select {
		return v.Value
	}
	for _, o := range v.Options {
		if o.Selected && o.Value != "" {
			return o.Label
		}
	}
	return ""
}

// differs reports whether an environment has a value of its own, or a problem.
func (v FieldView) differs() bool {
	for _, f := range v.PerEnvironment {
		if f.value() != "" || f.Problem != "" {
			return true
		}
	}
	return false
}

// overrides are the values that environments have of their own: prod: 3.
func (v FieldView) overrides() string {
	var parts []string
	for _, f := range v.PerEnvironment {
		if text := f.value(); text != "" {
			parts = append(parts, f.Label+": "+text)
		}
	}
	return strings.Join(parts, ", ")
}
