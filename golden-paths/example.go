package goldenpaths

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	yaml "go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Example is a use of a golden path with the plan that it must give: the golden
// path's own test. Its name is the instance's.
type Example struct {
	Name   string
	Title  string
	Inputs map[string]apiextensionsv1.JSON
	// Plan is what happens to each object, by kind and name, as in
	// "Deployment web": create.
	Plan map[string]string
}

type exampleFile struct {
	Title  string               `yaml:"title"`
	Inputs map[string]yaml.Node `yaml:"inputs"`
	Plan   map[string]string    `yaml:"plan"`
}

func loadExamples(dir fs.FS, version v1alpha1.GoldenPathVersion) ([]Example, error) {
	files, err := fs.Glob(dir, path.Join(examplesDir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list examples: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no example; a golden path is tested by at least one", examplesDir)
	}
	var examples []Example
	for _, file := range files {
		text, err := fs.ReadFile(dir, file)
		if err != nil {
			return nil, fmt.Errorf("read example: %w", err)
		}
		example, err := parseExample(text, version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		example.Name = strings.TrimSuffix(path.Base(file), ".yaml")
		examples = append(examples, example)
	}
	return examples, nil
}

func parseExample(text []byte, version v1alpha1.GoldenPathVersion) (Example, error) {
	var file exampleFile
	if err := decodeStrict(text, &file); err != nil {
		return Example{}, err
	}
	if file.Title == "" {
		return Example{}, errors.New("title is missing")
	}
	if len(file.Plan) == 0 {
		return Example{}, errors.New("plan is missing: say what the inputs must give")
	}
	inputs := map[string]apiextensionsv1.JSON{}
	for name, node := range file.Inputs {
		value, err := toJSON(&node)
		if err != nil {
			return Example{}, fmt.Errorf("inputs.%s: %w", name, err)
		}
		inputs[name] = value
	}
	for _, problem := range CheckInputs(version, inputs) {
		return Example{}, fmt.Errorf("inputs.%s: %s", problem.Path, problem.Message)
	}
	return Example{Title: file.Title, Inputs: inputs, Plan: file.Plan}, nil
}
