package program

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/fault"
)

// maxManifest bounds a manifest file: a Program of MaxSize, its YAML layout and
// what stands beside it.
const maxManifest = 4 * MaxSize

// Manifest is what a file proposes.
type Manifest struct {
	// Change is the proposal. Its environments are empty when the file holds a bare
	// Program: it is then meant for all of them.
	Change v1alpha1.ChangeRequest
	// Secrets are created before the proposal, if they do not exist.
	Secrets []corev1.Secret
}

// Decode reads a manifest file: one ChangeRequest or one Program, and any number
// of Secrets. It is strict: unknown and doubled keys are errors, so that a typing
// mistake is not silently left out of what runs.
func Decode(text []byte) (Manifest, error) {
	var m Manifest
	if len(text) > maxManifest {
		return m, fault.New(fault.Invalid, nil, "The file has %s; at most %s are read.", mebibytes(len(text)), mebibytes(maxManifest))
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	changes := 0
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, fault.New(fault.Invalid, err, "The file cannot be read as YAML: %v", err)
		}
		if blank(document) {
			continue
		}
		change, err := m.add(document)
		if err != nil {
			return m, within(number, err)
		}
		changes += change
	}
	if changes != 1 {
		return m, fault.New(fault.Invalid, nil, "The file holds %d proposals; write exactly one ChangeRequest or Program in it.", changes)
	}
	return m, nil
}

// blank reports whether a document holds nothing but comments. The reader leaves
// the mark of a document that follows nothing in it.
func blank(document []byte) bool {
	for line := range bytes.Lines(document) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && string(line) != "---" {
			return false
		}
	}
	return true
}

func within(number int, err error) error {
	if message, ok := fault.Message(err); ok {
		return fault.New(fault.Invalid, err, "Document %d: %s", number, message)
	}
	return fmt.Errorf("read document %d: %w", number, err)
}

func (m *Manifest) add(document []byte) (changes int, err error) {
	var content any
	if err := yaml.Unmarshal(document, &content); err != nil {
		return 0, fault.New(fault.Invalid, err, "It is no YAML: %s", plain(err))
	}
	if _, ok := content.(map[string]any); !ok {
		return 0, fault.New(fault.Invalid, nil, "It is no object: write apiVersion, kind and metadata.")
	}
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(document, &meta); err != nil {
		return 0, fault.New(fault.Invalid, err, "%s", plain(err))
	}
	switch kind := meta.APIVersion + "/" + meta.Kind; kind {
	case "v1/Secret":
		var secret corev1.Secret
		if err := strict(document, &secret); err != nil {
			return 0, err
		}
		m.Secrets = append(m.Secrets, secret)
		return 0, nil
	case v1alpha1.GroupVersion.String() + "/ChangeRequest":
		return 1, strict(document, &m.Change)
	case pulumiv1.GroupVersion.String() + "/Program":
		var p pulumiv1.Program
		if err := strict(document, &p); err != nil {
			return 0, err
		}
		m.Change = v1alpha1.ChangeRequest{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ChangeRequest"},
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace},
			Spec:       v1alpha1.ChangeRequestSpec{Service: p.Name, Program: p.Program},
		}
		return 1, nil
	default:
		return 0, fault.New(fault.Invalid, nil, "It is a %q; only ChangeRequest, Program and Secret can be proposed.", strings.Trim(kind, "/"))
	}
}

func strict(document []byte, into any) error {
	if err := yaml.UnmarshalStrict(document, into); err != nil {
		return fault.New(fault.Invalid, err, "%s", plain(err))
	}
	return nil
}

var (
	noise     = regexp.MustCompile(`error (converting YAML to JSON|unmarshaling JSON|unmarshaling): |yaml: (unmarshal errors:\s*)?|while decoding JSON: |json: `)
	doubled   = regexp.MustCompile(`line (\d+): key "([^"]*)" already set in map`)
	unknown   = regexp.MustCompile(`unknown field "([^"]*)"`)
	wrongType = regexp.MustCompile(`cannot unmarshal (\w+) into Go struct field \S*?\.(\S+) of type \S+`)
)

// plain says in words what the YAML library says of a fault.
func plain(err error) string {
	text := strings.Join(strings.Fields(noise.ReplaceAllString(err.Error(), "")), " ")
	text = doubled.ReplaceAllString(text, `line $1: the key "$2" stands there twice; keep one`)
	text = unknown.ReplaceAllString(text, `there is no field "$1"; check its spelling and indentation`)
	text = wrongType.ReplaceAllString(text, `$2 cannot be of type $1`)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
