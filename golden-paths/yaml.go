package goldenpaths

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	yaml "go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// decodeStrict decodes the only document of data into target and refuses what a
// reader could overlook: unknown keys, keys given twice, aliases, and a second
// document.
func decodeStrict(data []byte, target any) error {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return fmt.Errorf("parse YAML: %w", err)
	}
	if err := checkNode(&root); err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(target); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("the file is empty")
		}
		return fmt.Errorf("parse YAML: %w", err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return errors.New("the file holds more than one YAML document")
	}
	return nil
}

// checkNode refuses aliases and duplicate keys anywhere below node; the decoder
// itself does not look into parts that are kept as nodes.
func checkNode(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode {
		return fmt.Errorf("line %d: YAML aliases are not allowed: write the value out", node.Line)
	}
	if node.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode {
				return fmt.Errorf("line %d: a key must be plain text", key.Line)
			}
			if seen[key.Value] {
				return fmt.Errorf("line %d: key %q is given twice", key.Line, key.Value)
			}
			seen[key.Value] = true
		}
	}
	for _, child := range node.Content {
		if err := checkNode(child); err != nil {
			return err
		}
	}
	return nil
}

// field is one entry of a mapping.
type field struct {
	key   string
	value *yaml.Node
}

// fields returns the entries of a mapping in the order of the file.
func fields(node *yaml.Node) []field {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	list := make([]field, 0, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		list = append(list, field{node.Content[i].Value, node.Content[i+1]})
	}
	return list
}

// child returns the value of a key of a mapping, or nil.
func child(node *yaml.Node, key string) *yaml.Node {
	for _, f := range fields(node) {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// setChild gives a mapping a key; an existing one is overwritten.
func setChild(node *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content[i+1] = value
			return
		}
	}
	node.Content = append(node.Content, textNode(key), value)
}

// ensureMapping returns the mapping under a key and makes it if it is missing.
func ensureMapping(node *yaml.Node, key string) *yaml.Node {
	if found := child(node, key); found != nil {
		return found
	}
	made := &yaml.Node{Kind: yaml.MappingNode}
	setChild(node, key, made)
	return made
}

// clone copies a node with all that is below it.
func clone(node *yaml.Node) *yaml.Node {
	made := *node
	made.Content = make([]*yaml.Node, len(node.Content))
	for i, content := range node.Content {
		made.Content[i] = clone(content)
	}
	return &made
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
}

// toJSON gives a YAML value as JSON.
func toJSON(node *yaml.Node) (apiextensionsv1.JSON, error) {
	var value any
	if err := node.Decode(&value); err != nil {
		return apiextensionsv1.JSON{}, fmt.Errorf("line %d: %w", node.Line, err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return apiextensionsv1.JSON{}, fmt.Errorf("line %d: %w", node.Line, err)
	}
	return apiextensionsv1.JSON{Raw: raw}, nil
}
