package deploy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Objects reads the objects of all YAML files in dir, in the order of the files'
// names and of their places in them. Each key of replace that occurs in a file is
// replaced by its value first; lists are taken apart.
func Objects(files fs.FS, dir string, replace map[string]string) ([]*unstructured.Unstructured, error) {
	paths, err := fs.Glob(files, dir+"/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list manifests in %q: %w", dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, path := range paths {
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, fmt.Errorf("read manifest %q: %w", path, err)
		}
		text := string(content)
		for mark, value := range replace {
			text = strings.ReplaceAll(text, mark, value)
		}
		found, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("read manifest %q: %w", path, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

func decode(text string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		var object unstructured.Unstructured
		if err := yaml.UnmarshalStrict(document, &object.Object); err != nil {
			return nil, err
		}
		switch {
		case len(object.Object) == 0: // comments only
		case object.IsList():
			err := object.EachListItem(func(item runtime.Object) error {
				objects = append(objects, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, err
			}
		default:
			objects = append(objects, &object)
		}
	}
}
