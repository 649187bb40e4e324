package goldenpaths

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// checkScalar says in a sentence what is wrong with a literal; empty if nothing
// is. name is what the sentence is about.
func checkScalar(input v1alpha1.GoldenPathInput, name string, value any) string {
	switch input.Type {
	case v1alpha1.TypeInteger:
		number, ok := value.(json.Number)
		whole, exact := wholeNumber(number)
		if !ok || !exact || input.Minimum != nil && whole < *input.Minimum || input.Maximum != nil && whole > *input.Maximum {
			return fmt.Sprintf("%s must be a whole number%s; it is %s", name, bounds(input), show(value))
		}
	case v1alpha1.TypeNumber:
		number, ok := value.(json.Number)
		if !ok {
			return fmt.Sprintf("%s must be a number%s; it is %s", name, bounds(input), show(value))
		}
		f, err := number.Float64()
		if err != nil || input.Minimum != nil && f < float64(*input.Minimum) || input.Maximum != nil && f > float64(*input.Maximum) {
			return fmt.Sprintf("%s must be a number%s; it is %s", name, bounds(input), show(value))
		}
	case v1alpha1.TypeBoolean:
		if _, ok := value.(bool); !ok {
			return fmt.Sprintf("%s must be true or false; it is %s", name, show(value))
		}
	case v1alpha1.TypeString:
		text, ok := value.(string)
		if !ok {
			return fmt.Sprintf("%s must be text%s; it is %s", name, inQuotes(value), show(value))
		}
		return checkText(input, name, text)
	case v1alpha1.TypeArray, v1alpha1.TypeObject:
	}
	return ""
}

// inQuotes helps with the commonest slip: a number where text is asked for.
func inQuotes(value any) string {
	switch value.(type) {
	case json.Number, bool:
		return ", in quotes"
	}
	return ""
}

func checkText(input v1alpha1.GoldenPathInput, name, text string) string {
	if text == "" && input.Required {
		return name + " must not be empty"
	}
	if input.MaxLength != nil {
		if length := int64(utf8.RuneCountInString(text)); length > *input.MaxLength {
			return fmt.Sprintf("%s must have at most %d characters; it has %d", name, *input.MaxLength, length)
		}
	}
	if len(input.Options) > 0 && !slices.Contains(input.Options, text) {
		return fmt.Sprintf("%s must be %s; it is %s", name, oneOf(input.Options), show(text))
	}
	if input.Pattern != "" && !matches(input.Pattern, text) {
		help := input.PatternHelp
		if help == "" {
			help = "text that matches " + input.Pattern
		}
		return fmt.Sprintf("%s must be %s; it is %s", name, help, show(text))
	}
	return ""
}

// wrongType says what is wrong with the JSON of a default, by its type alone.
func wrongType(input v1alpha1.GoldenPathInput, raw []byte) string {
	value, err := decodeValue(raw)
	if err != nil {
		return err.Error()
	}
	switch input.Type {
	case v1alpha1.TypeArray:
		if _, ok := value.([]any); !ok {
			return "it must be a list"
		}
		return ""
	case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeNumber, v1alpha1.TypeBoolean, v1alpha1.TypeObject:
	}
	return checkScalar(v1alpha1.GoldenPathInput{Type: input.Type}, "it", value)
}

func matches(pattern, text string) bool {
	compiled, err := regexp.Compile(`^(?:` + pattern + `)$`)
	return err == nil && compiled.MatchString(text)
}

func wholeNumber(number json.Number) (int64, bool) {
	if whole, err := number.Int64(); err == nil {
		return whole, true
	}
	// 3.0 and 3e2 are whole numbers too; beyond 2^53 a float no longer says which.
	f, err := number.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func bounds(input v1alpha1.GoldenPathInput) string {
	switch {
	case input.Minimum != nil && input.Maximum != nil:
		return fmt.Sprintf(" between %d and %d", *input.Minimum, *input.Maximum)
	case input.Minimum != nil:
		return fmt.Sprintf(" of at least %d", *input.Minimum)
	case input.Maximum != nil:
		return fmt.Sprintf(" of at most %d", *input.Maximum)
	}
	return ""
}

func oneOf(options []string) string {
	if len(options) == 1 {
		return options[0]
	}
	last := len(options) - 1
	return "one of " + strings.Join(options[:last], ", ") + " and " + options[last]
}

// show gives a value as a reader may see it: short, and with everything that
// could mislead a terminal or a page escaped.
func show(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "empty"
}

const shownLength = 60

func quote(text string) string {
	if utf8.RuneCountInString(text) > shownLength {
		text = string([]rune(text)[:shownLength]) + "…"
	}
	return strconv.Quote(text)
}
