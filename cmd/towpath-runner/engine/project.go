package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// projectKeys are what a program may say at the top of Pulumi.yaml. Others make
// the engine run commands or read files of this machine.
var projectKeys = []string{
	"name", "description", "runtime", "configuration", "config", "variables", "resources", "outputs", "packages",
}

// fileFunctions read files of the machine that runs the program, which holds
// other people's secrets; an inline program has none of its own.
var fileFunctions = []string{"fn::readfile", "fn::fileasset", "fn::filearchive", "fn::assetarchive"}

// deepest bounds how deep a program nests.
const deepest = 100

// ProjectFile makes the engine's Pulumi.yaml from a program's: packages that are
// hosted golden paths, given with their versions, are taken out. It also gives
// the literals that the program calls secret.
func ProjectFile(text, name string, hosted map[string]string) (file []byte, secrets []string, err error) {
	root, err := parseProject(text)
	if err != nil {
		return nil, nil, err
	}
	c := checker{}
	c.check(root, "", 0)
	if len(c.problems) > 0 {
		return nil, nil, fmt.Errorf("the program's Pulumi.yaml: %s", strings.Join(c.problems, "; "))
	}
	if err := checkTop(root, name); err != nil {
		return nil, nil, fmt.Errorf("the program's Pulumi.yaml: %w", err)
	}
	if err := takeOutHosted(root, hosted); err != nil {
		return nil, nil, fmt.Errorf("the program's Pulumi.yaml: %w", err)
	}
	file, err = yaml.Marshal(root)
	if err != nil {
		return nil, nil, fmt.Errorf("write Pulumi.yaml: %w", err)
	}
	return file, c.secrets, nil
}

func parseProject(text string) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("read the program's Pulumi.yaml: %w", err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the program's Pulumi.yaml holds more than one document")
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("the program's Pulumi.yaml is not a mapping")
	}
	return root, nil
}

// checker walks a program for what must not be in it, and for its secrets.
type checker struct {
	problems []string
	secrets  []string
}

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) check(node *yaml.Node, path string, depth int) {
	switch {
	case depth > deepest:
		c.problem("%s nests deeper than %d levels", path, deepest)
		return
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		c.problem("line %d uses an anchor or alias, which is not supported", node.Line)
		return
	case node.Kind == yaml.SequenceNode:
		for i, item := range node.Content {
			c.check(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case node.Kind == yaml.MappingNode:
		c.checkMapping(node, path, depth)
	}
}

func (c *checker) checkMapping(node *yaml.Node, path string, depth int) {
	lines := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if first, twice := lines[key.Value]; twice {
			c.problem("%s is given twice, in lines %d and %d", at, first, key.Line)
		}
		lines[key.Value] = key.Line
		switch function := strings.ToLower(key.Value); {
		case slices.Contains(fileFunctions, function):
			c.problem("%s reads a file, which an inline program does not have", at)
		case function == "fn::secret":
			c.secrets = append(c.secrets, literals(value)...)
		}
		c.check(key, at, depth+1)
		c.check(value, at, depth+1)
	}
}

// literals are the texts in a value that do not refer to anything.
func literals(node *yaml.Node) []string {
	if node.Kind == yaml.ScalarNode {
		if strings.Contains(node.Value, "${") {
			return nil
		}
		return []string{node.Value}
	}
	var found []string
	for _, child := range node.Content {
		found = append(found, literals(child)...)
	}
	return found
}

func checkTop(root *yaml.Node, name string) error {
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i].Value, root.Content[i+1]
		switch {
		case !slices.Contains(projectKeys, key):
			return fmt.Errorf("%s is not supported at the top; supported are %s", key, strings.Join(projectKeys, ", "))
		case key == "name" && value.Value != name:
			return fmt.Errorf("the name is %q and the project's is %q", value.Value, name)
		case key == "runtime" && (value.Kind != yaml.ScalarNode || value.Value != "yaml"):
			return errors.New("the runtime is not yaml")
		}
	}
	set(root, "name", name)
	set(root, "runtime", "yaml")
	return nil
}

// takeOutHosted removes the entries of packages that are hosted golden paths.
func takeOutHosted(root *yaml.Node, hosted map[string]string) error {
	packages := get(root, "packages")
	if packages == nil || packages.Kind != yaml.MappingNode {
		return nil
	}
	var rest []*yaml.Node
	for i := 0; i+1 < len(packages.Content); i += 2 {
		key, value := packages.Content[i], packages.Content[i+1]
		version, isHosted := hosted[key.Value]
		if !isHosted {
			rest = append(rest, key, value)
			continue
		}
		if want := key.Value + "@" + version; value.Kind != yaml.ScalarNode || value.Value != want {
			return fmt.Errorf("packages.%s is %q, and what the run was given is %q", key.Value, value.Value, want)
		}
	}
	packages.Content = rest
	if len(rest) == 0 {
		remove(root, "packages")
	}
	return nil
}

func get(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func set(mapping *yaml.Node, key, value string) {
	if get(mapping, key) != nil {
		return
	}
	mapping.Content = append(mapping.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
}

func remove(mapping *yaml.Node, key string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		}
	}
}

// isJSONObjectOrList reports whether config is structured.
func isJSONObjectOrList(value []byte) bool {
	value = bytes.TrimSpace(value)
	return len(value) > 0 && (value[0] == '{' || value[0] == '[')
}
