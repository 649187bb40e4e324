package goldenpaths

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// CheckInstance is CheckInputs with a look at the instance's name, which becomes
// the name of its objects unless an input gives them another.
func CheckInstance(version v1alpha1.GoldenPathVersion, instance string, properties map[string]apiextensionsv1.JSON) []v1alpha1.Problem {
	problems := CheckInputs(version, properties)
	given, err := decodeValue(properties[nameInput].Raw)
	if err == nil && given != nil && given != "" {
		return problems
	}
	for _, input := range version.Spec.Inputs {
		if input.Name != nameInput {
			continue
		}
		if message := checkText(input, "the name of the instance", instance); message != "" {
			problems = append(problems, v1alpha1.Problem{
				Message: message + "; rename it, or give " + nameInput,
			})
		}
	}
	return problems
}

// CheckInputs checks the inputs of an instance against what the golden path
// takes. The path of a problem begins with the input's name. Values that are
// Pulumi expressions count as given; what they refer to is not looked at.
func CheckInputs(version v1alpha1.GoldenPathVersion, properties map[string]apiextensionsv1.JSON) []v1alpha1.Problem {
	var problems []v1alpha1.Problem
	inputs := map[string]bool{}
	for _, input := range version.Spec.Inputs {
		inputs[input.Name] = true
		value, err := decodeValue(properties[input.Name].Raw)
		switch {
		case err != nil:
			problems = append(problems, v1alpha1.Problem{Path: input.Name, Message: input.Name + " is not valid JSON"})
		case value == nil && input.Required:
			problems = append(problems, v1alpha1.Problem{Path: input.Name, Message: missing(input)})
		case value != nil:
			problems = append(problems, checkInput(input, value)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !inputs[name] {
			problems = append(problems, v1alpha1.Problem{
				Path: name,
				Message: fmt.Sprintf("%s has no input %s%s", version.Spec.GoldenPath, quote(name),
					didYouMean(name, inputNames(version.Spec.Inputs))),
			})
		}
	}
	return problems
}

func missing(input v1alpha1.GoldenPathInput) string {
	if input.Secret {
		return input.Name + " is required; give it by secret config"
	}
	return input.Name + " is required"
}

func checkInput(input v1alpha1.GoldenPathInput, value any) []v1alpha1.Problem {
	problem := func(message string) []v1alpha1.Problem {
		return []v1alpha1.Problem{{Path: input.Name, Message: message}}
	}
	if input.Secret {
		if !refers(value) {
			return problem(input.Name + " is secret: give it by secret config, as in ${" + input.Name + "}, never as a literal")
		}
		return nil
	}
	if isExpression(value) || isDefault(input, value) {
		return nil
	}
	switch input.Type {
	case v1alpha1.TypeArray:
		list, ok := value.([]any)
		if !ok {
			return problem(input.Name + " must be a list; it is " + show(value))
		}
		return checkItems(input, list)
	case v1alpha1.TypeObject:
		object, ok := value.(map[string]any)
		if !ok {
			return problem(input.Name + " must be names with values; it is " + show(value))
		}
		return checkEntries(input, object)
	case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeNumber, v1alpha1.TypeBoolean:
	}
	if message := checkScalar(input, input.Name, value); message != "" {
		return problem(message)
	}
	return nil
}

func checkItems(input v1alpha1.GoldenPathInput, list []any) []v1alpha1.Problem {
	item := input
	item.Type = input.Items
	var problems []v1alpha1.Problem
	for i, value := range list {
		if isExpression(value) {
			continue
		}
		at := fmt.Sprintf("%s[%d]", input.Name, i)
		if message := checkScalar(item, at, value); message != "" {
			problems = append(problems, v1alpha1.Problem{Path: at, Message: message})
		}
	}
	return problems
}

// checkEntries checks an object: a pattern is about its names, a length about its
// values.
func checkEntries(input v1alpha1.GoldenPathInput, object map[string]any) []v1alpha1.Problem {
	name := v1alpha1.GoldenPathInput{Type: v1alpha1.TypeString, Pattern: input.Pattern, PatternHelp: input.PatternHelp}
	value := v1alpha1.GoldenPathInput{Type: input.Items, MaxLength: input.MaxLength}
	var problems []v1alpha1.Problem
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := input.Name + "." + key
		if !envName.MatchString(key) {
			at = input.Name + "[" + quote(key) + "]"
		}
		if message := checkText(name, "a name in "+input.Name, key); message != "" {
			problems = append(problems, v1alpha1.Problem{Path: at, Message: message})
			continue
		}
		if isExpression(object[key]) {
			continue
		}
		if message := checkScalar(value, at, object[key]); message != "" {
			problems = append(problems, v1alpha1.Problem{Path: at, Message: message})
		}
	}
	return problems
}

// isDefault says whether a literal is the input's own default, which may lie out
// of bounds: it is how an option is switched off.
func isDefault(input v1alpha1.GoldenPathInput, value any) bool {
	if input.Default == nil {
		return false
	}
	def, err := canonicalJSON(json.RawMessage(input.Default.Raw))
	if err != nil {
		return false
	}
	given, err := canonicalJSON(value)
	return err == nil && bytes.Equal(def, given)
}

// isExpression says whether Pulumi evaluates the value instead of taking it as it
// stands.
func isExpression(value any) bool {
	switch v := value.(type) {
	case string:
		return hasReference(v)
	case map[string]any:
		for key := range v {
			if strings.HasPrefix(strings.ToLower(key), "fn::") {
				return len(v) == 1
			}
		}
	}
	return false
}

// refers says whether anything in the value comes from elsewhere.
func refers(value any) bool {
	switch v := value.(type) {
	case string:
		return hasReference(v)
	case []any:
		return slices.ContainsFunc(v, refers)
	case map[string]any:
		for _, entry := range v {
			if refers(entry) {
				return true
			}
		}
	}
	return false
}

func hasReference(text string) bool {
	for _, match := range reference.FindAllStringSubmatch(text, -1) {
		if len(match[1])%2 == 0 {
			return true
		}
	}
	return false
}

// decodeValue keeps numbers as they are written. Nothing decodes to nil.
func decodeValue(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read value: %w", err)
	}
	return value, nil
}
