package compose

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// valueOf is the JSON of what was typed into a field. What is not of the input's
// type stays text: validation then says what is wrong with it.
func valueOf(input v1alpha1.GoldenPathInput, text string) apiextensionsv1.JSON {
	switch input.Type {
	case v1alpha1.TypeArray:
		items := []apiextensionsv1.JSON{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				items = append(items, scalar(input.Items, line))
			}
		}
		return encode(items)
	case v1alpha1.TypeObject:
		entries := map[string]apiextensionsv1.JSON{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				name, value, _ := strings.Cut(line, "=")
				entries[strings.TrimSpace(name)] = scalar(input.Items, strings.TrimSpace(value))
			}
		}
		return encode(entries)
	case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeNumber, v1alpha1.TypeBoolean:
	}
	return scalar(input.Type, text)
}

func scalar(t v1alpha1.ValueType, text string) apiextensionsv1.JSON {
	switch t {
	case v1alpha1.TypeInteger, v1alpha1.TypeNumber:
		var number json.Number
		if json.Unmarshal([]byte(text), &number) == nil && !strings.HasPrefix(text, `"`) {
			return apiextensionsv1.JSON{Raw: []byte(number.String())}
		}
	case v1alpha1.TypeBoolean:
		if text == "true" || text == "false" {
			return apiextensionsv1.JSON{Raw: []byte(text)}
		}
	case v1alpha1.TypeString, v1alpha1.TypeArray, v1alpha1.TypeObject:
	}
	return encode(text)
}

func encode(value any) apiextensionsv1.JSON {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("text and JSON always encode: " + err.Error())
	}
	return apiextensionsv1.JSON{Raw: bytes.TrimSpace(text.Bytes())}
}

// textOf is the text that a field shows for a value, and whether valueOf makes the
// same value of it again.
func textOf(input v1alpha1.GoldenPathInput, value apiextensionsv1.JSON) (string, bool) {
	text, ok := fieldText(input, value)
	return text, ok && equal(valueOf(input, tidy(text)), value)
}

func fieldText(input v1alpha1.GoldenPathInput, value apiextensionsv1.JSON) (string, bool) {
	switch input.Type {
	case v1alpha1.TypeArray:
		var items []json.RawMessage
		if json.Unmarshal(value.Raw, &items) != nil {
			return "", false
		}
		texts := make([]string, 0, len(items))
		for _, item := range items {
			texts = append(texts, scalarText(item))
		}
		return strings.Join(texts, "\n"), len(items) > 0
	case v1alpha1.TypeObject:
		var entries map[string]json.RawMessage
		if json.Unmarshal(value.Raw, &entries) != nil {
			return "", false
		}
		texts := make([]string, 0, len(entries))
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			texts = append(texts, name+"="+scalarText(entries[name]))
		}
		return strings.Join(texts, "\n"), len(entries) > 0
	case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeNumber, v1alpha1.TypeBoolean:
	}
	text := scalarText(value.Raw)
	return text, text != ""
}

func scalarText(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(bytes.TrimSpace(raw))
}

// equal compares two values as JSON.
func equal(a, b apiextensionsv1.JSON) bool {
	return bytes.Equal(canonical(a), canonical(b))
}

func canonical(value apiextensionsv1.JSON) []byte {
	decoder := json.NewDecoder(bytes.NewReader(value.Raw))
	decoder.UseNumber()
	var generic any
	if decoder.Decode(&generic) != nil {
		return value.Raw
	}
	text, err := json.Marshal(generic)
	if err != nil {
		return value.Raw
	}
	return text
}

// configType is the type of config that can hold an input's value; false when none
// can.
func configType(input v1alpha1.GoldenPathInput) (pulumiv1.ConfigType, bool) {
	switch input.Type {
	case v1alpha1.TypeString:
		return "String", true
	case v1alpha1.TypeInteger, v1alpha1.TypeNumber:
		return "Number", true
	case v1alpha1.TypeArray:
		switch input.Items {
		case v1alpha1.TypeString:
			return "List<String>", true
		case v1alpha1.TypeInteger, v1alpha1.TypeNumber:
			return "List<Number>", true
		case v1alpha1.TypeBoolean, v1alpha1.TypeArray, v1alpha1.TypeObject:
		}
	case v1alpha1.TypeBoolean, v1alpha1.TypeObject:
	}
	return "", false
}

// PerEnvironment reports whether an input can have a value for each environment.
func PerEnvironment(input v1alpha1.GoldenPathInput) bool {
	_, ok := configType(input)
	return ok && !input.Secret
}

func itoa(n int) string { return strconv.Itoa(n) }
