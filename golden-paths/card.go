package goldenpaths

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	yaml "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// card is golden-path.yaml: what people see of a golden path.
type card struct {
	Title     string         `yaml:"title"`
	Summary   string         `yaml:"summary"`
	Owner     string         `yaml:"owner"`
	Tags      []string       `yaml:"tags"`
	Version   string         `yaml:"version"`
	Stage     v1alpha1.Stage `yaml:"stage"`
	Changelog string         `yaml:"changelog"`
	// Inputs by name, in the order of the form.
	Inputs  yaml.Node             `yaml:"inputs"`
	Outputs map[string]outputHint `yaml:"outputs"`

	inputs []inputHint
}

// inputHint says how a form asks for an input and what bounds it has.
type inputHint struct {
	Label       string   `yaml:"label"`
	Help        string   `yaml:"help"`
	Group       string   `yaml:"group"`
	Pattern     string   `yaml:"pattern"`
	PatternHelp string   `yaml:"patternHelp"`
	MaxLength   *int64   `yaml:"maxLength"`
	Minimum     *int64   `yaml:"minimum"`
	Maximum     *int64   `yaml:"maximum"`
	Options     []string `yaml:"options"`

	name string
}

// outputHint gives an output its type, which a component does not say.
type outputHint struct {
	Type   v1alpha1.ValueType `yaml:"type"`
	Help   string             `yaml:"help"`
	Secret bool               `yaml:"secret"`
}

var semver = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9a-z]+(\.[0-9a-z]+)*)?$`)

func parseCard(text []byte) (card, error) {
	var c card
	if err := decodeStrict(text, &c); err != nil {
		return card{}, err
	}
	if c.Title == "" {
		return card{}, errors.New("title is missing")
	}
	if c.Owner == "" {
		return card{}, errors.New("owner is missing: name the team that answers for it")
	}
	if !semver.MatchString(c.Version) {
		return card{}, fmt.Errorf("version is %q; it must be a semantic version such as 1.2.0", c.Version)
	}
	switch c.Stage {
	case "":
		c.Stage = v1alpha1.StageDraft
	case v1alpha1.StageDraft, v1alpha1.StagePublished, v1alpha1.StageDeprecated, v1alpha1.StageRetired:
	default:
		return card{}, fmt.Errorf("stage is %q; it must be Draft, Published, Deprecated or Retired", c.Stage)
	}
	for _, f := range fields(&c.Inputs) {
		text, err := yaml.Marshal(f.value)
		if err != nil {
			return card{}, fmt.Errorf("inputs.%s: %w", f.key, err)
		}
		hint := inputHint{name: f.key}
		if err := decodeStrict(text, &hint); err != nil {
			return card{}, fmt.Errorf("inputs.%s: %w", f.key, err)
		}
		c.inputs = append(c.inputs, hint)
	}
	return c, nil
}

// describe joins a component and its card into the objects of the catalogue.
func describe(c *Component, card card) (Version, error) {
	inputs, err := mergeInputs(c, card)
	if err != nil {
		return Version{}, err
	}
	outputs, err := mergeOutputs(c, card)
	if err != nil {
		return Version{}, err
	}
	return Version{
		GoldenPath: v1alpha1.GoldenPath{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "GoldenPath"},
			ObjectMeta: metav1.ObjectMeta{Name: c.Package},
			Spec: v1alpha1.GoldenPathSpec{
				Title: card.Title, Summary: card.Summary, Owner: card.Owner, Tags: card.Tags,
			},
		},
		Version: v1alpha1.GoldenPathVersion{
			TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "GoldenPathVersion"},
			ObjectMeta: metav1.ObjectMeta{
				Name:   c.Package + "-" + card.Version,
				Labels: map[string]string{v1alpha1.GoldenPathLabel: c.Package},
			},
			Spec: v1alpha1.GoldenPathVersionSpec{
				GoldenPath: c.Package,
				Version:    card.Version,
				Stage:      card.Stage,
				Token:      c.Token,
				Component:  c.text,
				Changelog:  card.Changelog,
				Digest:     Digest(c.Token, c.text, inputs),
				Inputs:     inputs,
				Outputs:    outputs,
			},
		},
	}, nil
}

// mergeInputs puts the card's hints on the component's inputs: first those that
// the card has, in its order, then the rest.
func mergeInputs(c *Component, card card) ([]v1alpha1.GoldenPathInput, error) {
	var inputs []v1alpha1.GoldenPathInput
	hinted := map[string]bool{}
	for _, hint := range card.inputs {
		input, ok := c.input(hint.name)
		if !ok {
			return nil, fmt.Errorf("inputs.%s: the component has no such input%s", hint.name, didYouMean(hint.name, inputNames(c.Inputs)))
		}
		hinted[hint.name] = true
		input.Label, input.Help, input.Group = hint.Label, hint.Help, hint.Group
		input.Pattern, input.PatternHelp = hint.Pattern, hint.PatternHelp
		input.MaxLength, input.Minimum, input.Maximum = hint.MaxLength, hint.Minimum, hint.Maximum
		input.Options = hint.Options
		if err := checkHint(input); err != nil {
			return nil, fmt.Errorf("inputs.%s.%w", hint.name, err)
		}
		inputs = append(inputs, input)
	}
	for _, input := range c.Inputs {
		if !hinted[input.Name] {
			inputs = append(inputs, input)
		}
	}
	return inputs, nil
}

// checkHint refuses bounds that cannot apply to the input's type.
func checkHint(input v1alpha1.GoldenPathInput) error {
	if _, err := regexp.Compile(input.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	isText := input.Type == v1alpha1.TypeString
	switch {
	case input.Pattern != "" && !isText && input.Type != v1alpha1.TypeObject:
		return fmt.Errorf("pattern: an input of type %s has none", input.Type)
	case len(input.Options) > 0 && !isText:
		return fmt.Errorf("options: an input of type %s has none", input.Type)
	case input.MaxLength != nil && !isText && input.Type != v1alpha1.TypeObject:
		return fmt.Errorf("maxLength: an input of type %s has none", input.Type)
	case (input.Minimum != nil || input.Maximum != nil) && input.Type != v1alpha1.TypeInteger:
		return fmt.Errorf("minimum and maximum: an input of type %s has none", input.Type)
	case input.Minimum != nil && input.Maximum != nil && *input.Minimum > *input.Maximum:
		return errors.New("minimum: it is greater than the maximum")
	}
	return nil
}

func mergeOutputs(c *Component, card card) ([]v1alpha1.GoldenPathOutput, error) {
	for name := range card.Outputs {
		if !slices.Contains(c.Outputs, name) {
			return nil, fmt.Errorf("outputs.%s: the component has no such output%s", name, didYouMean(name, c.Outputs))
		}
	}
	var outputs []v1alpha1.GoldenPathOutput
	for _, name := range c.Outputs {
		hint := card.Outputs[name]
		switch hint.Type {
		case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeNumber, v1alpha1.TypeBoolean, v1alpha1.TypeArray, v1alpha1.TypeObject:
		case "":
			return nil, fmt.Errorf("outputs.%s.type is missing", name)
		default:
			return nil, fmt.Errorf("outputs.%s.type is %q; it must be string, integer, number, boolean, array or object", name, hint.Type)
		}
		outputs = append(outputs, v1alpha1.GoldenPathOutput{Name: name, Type: hint.Type, Help: hint.Help, Secret: hint.Secret})
	}
	return outputs, nil
}
