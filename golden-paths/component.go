package goldenpaths

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	yaml "go.yaml.in/yaml/v3"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Component is a parsed PulumiPlugin.yaml. It is safe for concurrent use.
type Component struct {
	// Package is the name of the golden path, Token the component's type token.
	Package string
	Token   string
	// Inputs in the order of the file. A component knows types, defaults and which
	// are secret; bounds and hints come from the card.
	Inputs []v1alpha1.GoldenPathInput
	// Outputs are the names of the outputs in the order of the file.
	Outputs []string

	name     string
	text     string
	document *yaml.Node
	defaults map[string]*yaml.Node
	rules    rules
}

// rules are the block "towpath" of a component file: what a Pulumi YAML component
// cannot say itself. Pulumi's own tools ignore the block. Keys are paths of nodes
// within the component, values are names of inputs.
type rules struct {
	// When takes a node out unless the input is on.
	When map[string]string `yaml:"when"`
	// Unless takes a node out if the input is on.
	Unless map[string]string `yaml:"unless"`
	// Env puts a list of name and value where the path says, one for each entry of
	// the input, which is an object and known to Towpath only.
	Env map[string]string `yaml:"env"`
}

type pluginFile struct {
	Name        string    `yaml:"name"`
	Namespace   string    `yaml:"namespace"`
	Description string    `yaml:"description"`
	Runtime     string    `yaml:"runtime"`
	Components  yaml.Node `yaml:"components"`
	Towpath     rules     `yaml:"towpath"`
}

type componentDecl struct {
	Description string    `yaml:"description"`
	Inputs      yaml.Node `yaml:"inputs"`
	Variables   yaml.Node `yaml:"variables"`
	Resources   yaml.Node `yaml:"resources"`
	Outputs     yaml.Node `yaml:"outputs"`
}

type inputDecl struct {
	Type    string     `yaml:"type"`
	Items   *inputDecl `yaml:"items"`
	Secret  bool       `yaml:"secret"`
	Default yaml.Node  `yaml:"default"`
}

// reference matches the root of a Pulumi expression; a doubled dollar is an
// escape.
var reference = regexp.MustCompile(`(\$*)\$\{([A-Za-z_][-A-Za-z0-9_]*)`)

// ParseComponent reads the text of a PulumiPlugin.yaml with exactly one component
// and checks that it is whole under every combination of its switches.
func ParseComponent(text string) (*Component, error) {
	var file pluginFile
	if err := decodeStrict([]byte(text), &file); err != nil {
		return nil, err
	}
	if file.Name == "" {
		return nil, errors.New("name is missing")
	}
	if file.Runtime != "yaml" {
		return nil, fmt.Errorf("runtime is %q; it must be yaml", file.Runtime)
	}
	components := fields(&file.Components)
	if len(components) != 1 {
		return nil, fmt.Errorf("components has %d entries; a golden path is exactly one component", len(components))
	}
	c := &Component{
		Package:  file.Name,
		Token:    file.Name + ":index:" + components[0].key,
		name:     components[0].key,
		text:     text,
		document: &yaml.Node{},
		defaults: map[string]*yaml.Node{},
		rules:    file.Towpath,
	}
	if err := yaml.Unmarshal([]byte(text), c.document); err != nil {
		return nil, fmt.Errorf("parse YAML: %w", err)
	}
	// Decoding a node checks no unknown keys, so its text is decoded again.
	declText, err := yaml.Marshal(components[0].value)
	if err != nil {
		return nil, fmt.Errorf("components.%s: %w", c.name, err)
	}
	var decl componentDecl
	if err := decodeStrict(declText, &decl); err != nil {
		return nil, fmt.Errorf("components.%s: %w", c.name, err)
	}
	if len(fields(&decl.Resources)) == 0 {
		return nil, fmt.Errorf("components.%s.resources is missing", c.name)
	}
	if err := c.readInputs(&decl.Inputs); err != nil {
		return nil, err
	}
	for _, output := range fields(&decl.Outputs) {
		c.Outputs = append(c.Outputs, output.key)
	}
	if err := c.checkRules(); err != nil {
		return nil, fmt.Errorf("towpath: %w", err)
	}
	return c, nil
}

func (c *Component) readInputs(node *yaml.Node) error {
	for _, f := range fields(node) {
		input, def, err := readInput(f)
		if err != nil {
			return fmt.Errorf("components.%s.inputs.%s%w", c.name, f.key, err)
		}
		if def != nil {
			c.defaults[f.key] = def
		}
		c.Inputs = append(c.Inputs, input)
	}
	for _, name := range slices.Sorted(maps.Values(c.rules.Env)) {
		if _, ok := c.input(name); ok {
			return fmt.Errorf("towpath.env: %s is already an input of the component", name)
		}
		c.Inputs = append(c.Inputs, v1alpha1.GoldenPathInput{
			Name: name, Type: v1alpha1.TypeObject, Items: v1alpha1.TypeString,
		})
	}
	return nil
}

// readInput gives an input and the node of its default, if it has one. Errors
// continue the path of the input.
func readInput(f field) (v1alpha1.GoldenPathInput, *yaml.Node, error) {
	input := v1alpha1.GoldenPathInput{Name: f.key}
	text, err := yaml.Marshal(f.value)
	if err != nil {
		return input, nil, fmt.Errorf(": %w", err)
	}
	var decl inputDecl
	if err := decodeStrict(text, &decl); err != nil {
		return input, nil, fmt.Errorf(": %w", err)
	}
	input.Type, input.Secret, input.Required = v1alpha1.ValueType(decl.Type), decl.Secret, decl.Default.IsZero()
	switch input.Type {
	case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeBoolean:
	case v1alpha1.TypeArray:
		if decl.Items == nil || decl.Items.Type == "" {
			return input, nil, errors.New(".items.type is missing: an array says what it holds")
		}
		input.Items = v1alpha1.ValueType(decl.Items.Type)
	case "":
		return input, nil, errors.New(".type is missing")
	default:
		return input, nil, fmt.Errorf(".type is %q; Pulumi YAML components know string, integer, boolean and array", decl.Type)
	}
	if input.Required {
		return input, nil, nil
	}
	value, err := toJSON(&decl.Default)
	if err != nil {
		return input, nil, fmt.Errorf(".default: %w", err)
	}
	if message := wrongType(input, value.Raw); message != "" {
		return input, nil, fmt.Errorf(".default: %s", message)
	}
	input.Default = &value
	return input, &decl.Default, nil
}

func (c *Component) input(name string) (v1alpha1.GoldenPathInput, bool) {
	i := slices.IndexFunc(c.Inputs, func(in v1alpha1.GoldenPathInput) bool { return in.Name == name })
	if i < 0 {
		return v1alpha1.GoldenPathInput{}, false
	}
	return c.Inputs[i], true
}

// switches are the inputs that decide which nodes there are, sorted.
func (c *Component) switches() []string {
	names := map[string]bool{}
	for _, rule := range []map[string]string{c.rules.When, c.rules.Unless} {
		for _, input := range rule {
			names[input] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// maxSwitches bounds the combinations that are checked.
const maxSwitches = 8

// checkRules sees to it that the rules name inputs and nodes that exist, and that
// whatever is taken out, nothing that stays refers to it.
func (c *Component) checkRules() error {
	switches := c.switches()
	if len(switches) > maxSwitches {
		return fmt.Errorf("%d inputs decide what there is; at most %d may", len(switches), maxSwitches)
	}
	for _, name := range switches {
		if _, ok := c.input(name); !ok {
			return fmt.Errorf("the component has no input %q", name)
		}
	}
	for combination := range 1 << len(switches) {
		on := map[string]bool{}
		for i, name := range switches {
			on[name] = combination&(1<<i) != 0
		}
		_, decl := c.tree()
		if err := c.apply(decl, func(name string) bool { return on[name] }, nil); err != nil {
			return err
		}
		if err := c.checkReferences(decl); err != nil {
			return fmt.Errorf("with %s: %w", describeSwitches(switches, on), err)
		}
	}
	return nil
}

func describeSwitches(switches []string, on map[string]bool) string {
	if len(switches) == 0 {
		return "any inputs"
	}
	text := ""
	for i, name := range switches {
		if i > 0 {
			text += ", "
		}
		if on[name] {
			text += name + " on"
		} else {
			text += name + " off"
		}
	}
	return text
}

func (c *Component) checkReferences(decl *yaml.Node) error {
	known := map[string]bool{"pulumi": true}
	for _, section := range []string{"inputs", "variables", "resources"} {
		for _, f := range fields(child(decl, section)) {
			known[f.key] = true
		}
	}
	var check func(node *yaml.Node) error
	check = func(node *yaml.Node) error {
		if node.Kind == yaml.ScalarNode {
			for _, match := range reference.FindAllStringSubmatch(node.Value, -1) {
				if len(match[1])%2 == 0 && !known[match[2]] {
					return fmt.Errorf("%q refers to %q, which does not exist", node.Value, match[2])
				}
			}
		}
		for _, content := range node.Content {
			if err := check(content); err != nil {
				return err
			}
		}
		return nil
	}
	return check(decl)
}

// tree copies the component, for a caller that changes it, and returns the whole
// document and the component's own node.
func (c *Component) tree() (document, decl *yaml.Node) {
	document = clone(c.document)
	return document, child(child(document.Content[0], "components"), c.name)
}
