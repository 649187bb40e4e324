// Package program knows what a Program says: how it becomes a Pulumi project
// file and a snapshot, which golden paths it uses, how its parts are wired, and
// what is wrong with it. It is pure: it reads no cluster and imports no Pulumi.
package program

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// MaxSize is the largest Program accepted, in bytes of JSON. The API server's
// own limit for an object is 1.5 MiB; a snapshot and a ChangeRequest hold one
// Program each.
const MaxSize = 1 << 20

// ProjectFile returns the Pulumi.yaml of a Program: its name is the project's,
// hence part of every URN, as in the Pulumi Kubernetes Operator.
func ProjectFile(name string, spec pulumiv1.ProgramSpec) ([]byte, error) {
	type project struct {
		Name    string `json:"name"`
		Runtime string `json:"runtime"`
		pulumiv1.ProgramSpec
	}
	text, err := yaml.Marshal(project{Name: name, Runtime: "yaml", ProgramSpec: spec})
	if err != nil {
		return nil, fmt.Errorf("write the project file of program %q: %w", name, err)
	}
	return text, nil
}

// Digest is sha256:<hex> over the Program's canonical JSON: key order and white
// space in the manifest do not matter.
func Digest(spec pulumiv1.ProgramSpec) string {
	return DigestOf(spec)
}

// DigestOf is sha256:<hex> over a value's canonical JSON: objects with sorted
// keys, numbers as written.
func DigestOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("digest of a value that is no JSON: %v", err)) // API types always are
	}
	var generic any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&generic); err != nil {
		panic(fmt.Sprintf("digest of JSON that does not parse: %v", err))
	}
	canonical, err := json.Marshal(generic)
	if err != nil {
		panic(fmt.Sprintf("digest of parsed JSON: %v", err))
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// SnapshotName is the name of the ControllerRevision that holds spec.
func SnapshotName(service string, spec pulumiv1.ProgramSpec) string {
	return service + "-" + strings.TrimPrefix(Digest(spec), "sha256:")[:12]
}

// Catalogue finds golden path versions for a Program.
type Catalogue interface {
	// Version returns a version of a golden path, or nil when there is none.
	Version(goldenPath, version string) *v1alpha1.GoldenPathVersion
	// Versions lists the versions of a golden path, newest first; none when the
	// golden path is unknown.
	Versions(goldenPath string) []string
	// GoldenPaths lists the names of all golden paths, sorted.
	GoldenPaths() []string
}

var pin = regexp.MustCompile(`^([a-z][-a-z0-9]*)@([0-9][-.0-9a-z]*)$`)

// instances returns the golden path version of each resource that is an instance
// of one, by logical name. Resources of other packages are left out.
func instances(spec pulumiv1.ProgramSpec, catalogue Catalogue) map[string]*v1alpha1.GoldenPathVersion {
	found := map[string]*v1alpha1.GoldenPathVersion{}
	for name, resource := range spec.Resources {
		path, _, _ := strings.Cut(resource.Type, ":")
		parts := pin.FindStringSubmatch(spec.Packages[path])
		if parts == nil || parts[1] != path {
			continue
		}
		if version := catalogue.Version(path, parts[2]); version != nil && token(resource.Type) == version.Spec.Token {
			found[name] = version
		}
	}
	return found
}

// token writes a type token in full: web-service:WebService means
// web-service:index:WebService, as in Pulumi YAML.
func token(t string) string {
	parts := strings.Split(t, ":")
	if len(parts) == 2 {
		return parts[0] + ":index:" + parts[1]
	}
	return t
}

// Pins returns the golden path versions that a valid Program uses, by name.
func Pins(spec pulumiv1.ProgramSpec, catalogue Catalogue) []v1alpha1.PinnedGoldenPath {
	var pins []v1alpha1.PinnedGoldenPath
	for _, path := range slices.Sorted(maps.Keys(spec.Packages)) {
		parts := pin.FindStringSubmatch(spec.Packages[path])
		if parts == nil {
			continue
		}
		if version := catalogue.Version(parts[1], parts[2]); version != nil {
			pins = append(pins, v1alpha1.PinnedGoldenPath{Name: parts[1], Version: parts[2], Digest: version.Spec.Digest})
		}
	}
	return pins
}

// literal returns a JSON value as Go data, nil when it is no JSON.
func literal(value apiextensionsv1.JSON) any {
	var v any
	if json.Unmarshal(value.Raw, &v) != nil {
		return nil
	}
	return v
}

// SameProposal reports whether two changes propose the same.
func SameProposal(a, b v1alpha1.ChangeRequestSpec) bool {
	return a.Service == b.Service && ProposalDigest(a) == ProposalDigest(b)
}

// ProposalDigest identifies what a change proposes, whoever proposes it and why.
func ProposalDigest(spec v1alpha1.ChangeRequestSpec) string {
	return DigestOf(struct {
		Program      pulumiv1.ProgramSpec
		Environments []v1alpha1.EnvironmentProposal
	}{spec.Program, spec.Environments})
}

// ProposalName makes a name for a proposal of its content, one that none of the
// existing changes has; or it returns the open change that proposes the same. The
// name tells the content too: a list that holds no Programs is enough.
func ProposalName(spec v1alpha1.ChangeRequestSpec, existing []v1alpha1.ChangeRequest) (name string, twin *v1alpha1.ChangeRequest) {
	taken := map[string]*v1alpha1.ChangeRequest{}
	for i := range existing {
		taken[existing[i].Name] = &existing[i]
		if !existing[i].Status.Phase.Done() && SameProposal(existing[i].Spec, spec) {
			return "", &existing[i]
		}
	}
	base := spec.Service + "-" + strings.TrimPrefix(ProposalDigest(spec), "sha256:")[:8]
	name = base
	for n := 2; taken[name] != nil; n++ {
		if !taken[name].Status.Phase.Done() {
			return "", taken[name]
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name, nil
}
