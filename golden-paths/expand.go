package goldenpaths

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Unknown stands for a value that is known only after the apply.
type Unknown struct{}

// nameInput is the input that is given the instance's name if it has no value.
const nameInput = "name"

// emptyText is a variable that holds an empty string. Interpolated beside a
// value, it makes text of a number, which an environment variable must be.
const emptyText = "towpathEmptyText"

// envName is what may stand between quotes in a Pulumi expression.
var envName = regexp.MustCompile(`^[-._A-Za-z0-9]+$`)

// Expand returns the component for one instance as ordinary Pulumi YAML: nodes
// whose switch is off are taken out, environment variables are listed, and inputs
// without a value become variables with their default. The last keeps Pulumi YAML
// from taking the value from stack config of the same name.
//
// inputs are the instance's inputs in plain values: nil, bool, float64, string,
// []any, map[string]any, or Unknown at any depth. Only switches and the keys of
// env inputs are looked at; values stay expressions, so that secrets and
// dependencies are kept.
func (c *Component) Expand(instance string, inputs map[string]any) (string, error) {
	document, decl := c.tree()
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		if _, ok := c.input(name); !ok {
			return "", fmt.Errorf("%s has no input %q", c.Package, name)
		}
	}
	value := func(name string) any {
		if given := inputs[name]; given != nil {
			return given
		}
		if node := c.defaults[name]; node != nil {
			var value any
			if err := node.Decode(&value); err == nil {
				return value
			}
		}
		return nil
	}
	for _, name := range c.switches() {
		if _, unknown := value(name).(Unknown); unknown {
			return "", fmt.Errorf("%s of %s decides what is created, so it must be known before the apply: give it a literal or a config value", name, instance)
		}
	}
	if err := c.apply(decl, func(name string) bool { return isOn(value(name)) }, inputs); err != nil {
		return "", err
	}
	if err := c.settle(decl, instance, inputs); err != nil {
		return "", err
	}
	text, err := yaml.Marshal(document.Content[0])
	if err != nil {
		return "", fmt.Errorf("write the component %s: %w", c.Package, err)
	}
	return string(text), nil
}

// isOn says whether a switch has a value that means something.
func isOn(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int:
		return v != 0
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// apply carries out the rules on the component's node.
func (c *Component) apply(decl *yaml.Node, on func(input string) bool, inputs map[string]any) error {
	type removal struct{ parent, node *yaml.Node }
	var removals []removal
	// All paths are looked up before anything is taken out: indices would shift.
	find := func(rule map[string]string, removeIf bool) error {
		for _, at := range slices.Sorted(maps.Keys(rule)) {
			parent, node, err := lookup(decl, at)
			if err != nil {
				return err
			}
			if on(rule[at]) == removeIf {
				removals = append(removals, removal{parent, node})
			}
		}
		return nil
	}
	if err := find(c.rules.When, false); err != nil {
		return err
	}
	if err := find(c.rules.Unless, true); err != nil {
		return err
	}
	for _, at := range slices.Sorted(maps.Keys(c.rules.Env)) {
		if err := c.insertEnv(decl, at, c.rules.Env[at], inputs); err != nil {
			return err
		}
	}
	for _, r := range removals {
		remove(r.parent, r.node)
	}
	return nil
}

// insertEnv puts the list of environment variables at a path.
func (c *Component) insertEnv(decl *yaml.Node, at, input string, inputs map[string]any) error {
	dot := strings.LastIndexByte(at, '.')
	if dot < 0 {
		return fmt.Errorf("%s: the path names no property", at)
	}
	_, parent, err := lookup(decl, at[:dot])
	if err != nil {
		return err
	}
	if parent.Kind != yaml.MappingNode || child(parent, at[dot+1:]) != nil {
		return fmt.Errorf("%s: there must be an object without this property", at)
	}
	if inputs[input] == nil {
		return nil
	}
	entries, ok := inputs[input].(map[string]any)
	if !ok {
		return fmt.Errorf("%s must be an object whose names are known before the apply", input)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if !envName.MatchString(name) {
			return fmt.Errorf("%s: %s is no name of an environment variable", input, strconv.Quote(name))
		}
		item := &yaml.Node{Kind: yaml.MappingNode}
		setChild(item, "name", textNode(name))
		setChild(item, "value", textNode(fmt.Sprintf(`${%s[%q]}${%s}`, input, name, emptyText)))
		list.Content = append(list.Content, item)
	}
	if len(list.Content) == 0 {
		return nil
	}
	setChild(parent, at[dot+1:], list)
	setChild(ensureMapping(decl, "variables"), emptyText, textNode(""))
	object := &yaml.Node{Kind: yaml.MappingNode}
	setChild(object, "type", textNode(string(v1alpha1.TypeObject)))
	setChild(ensureMapping(decl, "inputs"), input, object)
	return nil
}

// settle turns every input that has no value into a variable with its default.
func (c *Component) settle(decl *yaml.Node, instance string, inputs map[string]any) error {
	for _, input := range c.Inputs {
		given := inputs[input.Name]
		if given != nil && (input.Name != nameInput || given != "") {
			continue
		}
		declared := child(child(decl, "inputs"), input.Name)
		if declared == nil {
			continue
		}
		fallback := c.defaults[input.Name]
		if input.Name == nameInput {
			fallback = textNode(instance)
		}
		if fallback == nil {
			return fmt.Errorf("%s needs %s", instance, input.Name)
		}
		remove(child(decl, "inputs"), declared)
		setChild(ensureMapping(decl, "variables"), input.Name, fallback)
	}
	return nil
}

// pathStep matches a key of a path with the list indices that follow it.
var pathStep = regexp.MustCompile(`^([A-Za-z_][-A-Za-z0-9_]*)((?:\[[0-9]+\])*)$`)

// lookup finds the node at a path such as resources.web.properties.ports[0] and
// the mapping or list that holds it.
func lookup(root *yaml.Node, at string) (parent, node *yaml.Node, err error) {
	node = root
	for step := range strings.SplitSeq(at, ".") {
		match := pathStep.FindStringSubmatch(step)
		if match == nil {
			return nil, nil, fmt.Errorf("%s: %q is no step of a path", at, step)
		}
		parent, node = node, child(node, match[1])
		if node == nil {
			return nil, nil, fmt.Errorf("%s: there is no %q", at, match[1])
		}
		for index := range strings.SplitSeq(strings.Trim(match[2], "[]"), "][") {
			if index == "" {
				continue
			}
			i, err := strconv.Atoi(index)
			if err != nil || node.Kind != yaml.SequenceNode || i >= len(node.Content) {
				return nil, nil, fmt.Errorf("%s: %q has no element %s", at, match[1], index)
			}
			parent, node = node, node.Content[i]
		}
	}
	return parent, node, nil
}

// remove takes a node out of the mapping or list that holds it.
func remove(parent, node *yaml.Node) {
	i := slices.Index(parent.Content, node)
	if i < 0 {
		return
	}
	if parent.Kind == yaml.MappingNode {
		parent.Content = slices.Delete(parent.Content, i-1, i+1)
		return
	}
	parent.Content = slices.Delete(parent.Content, i, i+1)
}
