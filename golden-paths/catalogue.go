// Package goldenpaths reads golden paths, folders with a Pulumi YAML component
// and a catalogue card, into the catalogue's objects, checks what developers give
// them, and prepares a component for one instance. It is pure: it must not import
// Pulumi, talk to a cluster or decide who may use what.
package goldenpaths

import (
	"embed"
	"fmt"
	"io/fs"
	"path"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// The files of a golden path.
const (
	componentFile = "PulumiPlugin.yaml"
	cardFile      = "golden-path.yaml"
	readmeFile    = "README.md"
	examplesDir   = "examples"
)

//go:embed */PulumiPlugin.yaml */golden-path.yaml */README.md */examples/*.yaml
var builtin embed.FS

// Version is one version of a golden path with the identity it belongs to.
type Version struct {
	GoldenPath v1alpha1.GoldenPath
	Version    v1alpha1.GoldenPathVersion
	// Examples are the golden path's own tests.
	Examples []Example
}

// Builtin returns the golden paths that come with Towpath.
func Builtin() ([]Version, error) {
	return Load(builtin)
}

// Load reads every folder of fsys that holds a golden path, in the order of
// names. Folders without a card are left alone.
func Load(fsys fs.FS) ([]Version, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("list golden paths: %w", err)
	}
	var versions []Version
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if _, err := fs.Stat(fsys, path.Join(entry.Name(), cardFile)); err != nil {
			continue
		}
		dir, err := fs.Sub(fsys, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("open golden path %q: %w", entry.Name(), err)
		}
		version, err := LoadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("golden path %q: %w", entry.Name(), err)
		}
		if name := version.GoldenPath.Name; name != entry.Name() {
			return nil, fmt.Errorf("golden path %q: %s: name is %q; it must be the name of the folder", entry.Name(), componentFile, name)
		}
		versions = append(versions, version)
	}
	return versions, nil
}

// LoadDir reads the golden path whose files lie at the root of dir.
func LoadDir(dir fs.FS) (Version, error) {
	text, err := fs.ReadFile(dir, componentFile)
	if err != nil {
		return Version{}, fmt.Errorf("read the component: %w", err)
	}
	component, err := ParseComponent(string(text))
	if err != nil {
		return Version{}, fmt.Errorf("%s: %w", componentFile, err)
	}
	cardText, err := fs.ReadFile(dir, cardFile)
	if err != nil {
		return Version{}, fmt.Errorf("read the card: %w", err)
	}
	card, err := parseCard(cardText)
	if err != nil {
		return Version{}, fmt.Errorf("%s: %w", cardFile, err)
	}
	version, err := describe(component, card)
	if err != nil {
		return Version{}, fmt.Errorf("%s: %w", cardFile, err)
	}
	readme, err := fs.ReadFile(dir, readmeFile)
	if err != nil {
		return Version{}, fmt.Errorf("read the documentation: %w", err)
	}
	version.Version.Spec.Readme = string(readme)

	version.Examples, err = loadExamples(dir, version.Version)
	if err != nil {
		return Version{}, err
	}
	for _, example := range version.Examples {
		version.Version.Spec.Examples = append(version.Version.Spec.Examples, v1alpha1.GoldenPathExample{
			Name: example.Name, Title: example.Title, Inputs: example.Inputs,
		})
	}
	return version, nil
}
