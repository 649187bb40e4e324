package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Object identifies a Kubernetes object in the cluster.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// deployment is the part of a state export (apitype.DeploymentV3) that says what
// is there. Resources stay untyped: a field that a newer engine adds counts.
type deployment struct {
	Resources []map[string]any   `json:"resources"`
	Pending   []pendingOperation `json:"pending_operations"`
}

type pendingOperation struct {
	Type     string         `json:"type"`
	Resource map[string]any `json:"resource"`
}

// readExport reads a state export. A stack that was never applied has an empty
// export, or one without a deployment; both are an empty deployment.
func readExport(export []byte) (deployment, error) {
	if len(bytes.TrimSpace(export)) == 0 {
		return deployment{}, nil
	}
	var document struct {
		Deployment *deployment `json:"deployment"`
	}
	if err := decodeJSON(export, &document); err != nil {
		return deployment{}, fmt.Errorf("read state export: %w", err)
	}
	if document.Deployment == nil {
		return deployment{}, nil
	}
	return *document.Deployment, nil
}

// bookkeeping are the fields of a resource that differ from export to export
// without anything having happened to it.
var bookkeeping = []string{"created", "modified", "sourcePosition", "stackTrace", "propertyDependencies"}

// StateFingerprint returns two digests over a state export. Strict covers
// everything that the engine knows of every resource; core leaves out what a
// mere refresh may alter: outputs and the errors of resources that never became
// ready. Both are the same for a stack that was never applied and for one with
// nothing in it.
func StateFingerprint(export, key []byte, decrypt Decrypt) (core, strict string, err error) {
	d, err := readExport(export)
	if err != nil {
		return "", "", err
	}
	s, err := newSealer(key, decrypt, strings.NewReplacer())
	if err != nil {
		return "", "", fmt.Errorf("digest state: %w", err)
	}
	if core, err = fingerprint(d, s, coreOf); err != nil {
		return "", "", fmt.Errorf("digest state: %w", err)
	}
	if strict, err = fingerprint(d, s, strictOf); err != nil {
		return "", "", fmt.Errorf("digest state: %w", err)
	}
	return core, strict, nil
}

func fingerprint(d deployment, s *sealer, view func(map[string]any) map[string]any) (string, error) {
	resources := make([]any, 0, len(d.Resources))
	for _, r := range d.Resources {
		sealed, err := sealResource(r, s, view)
		if err != nil {
			return "", err
		}
		resources = append(resources, sealed)
	}
	pending := make([]any, 0, len(d.Pending))
	for _, operation := range d.Pending {
		sealed, err := sealResource(operation.Resource, s, view)
		if err != nil {
			return "", err
		}
		pending = append(pending, map[string]any{"type": operation.Type, "resource": sealed})
	}
	sortSet(resources)
	sortSet(pending)
	return digestOf(map[string]any{"resources": resources, "pending": pending}), nil
}

func sealResource(r map[string]any, s *sealer, view func(map[string]any) map[string]any) (any, error) {
	sealed, err := s.seal(view(r))
	if err != nil {
		return nil, fmt.Errorf("resource %q: %w", text(r, "urn"), err)
	}
	return sealed, nil
}

// strictOf is a resource without bookkeeping. The engine writes "none" now as an
// empty list, now not at all, so empty fields go too.
func strictOf(r map[string]any) map[string]any {
	out := make(map[string]any, len(r))
	for name, v := range r {
		if slices.Contains(bookkeeping, name) || isEmpty(v) {
			continue
		}
		if items, ok := v.([]any); ok && name != "initErrors" {
			// Dependencies, aliases and the like are sets.
			v = slices.Clone(items)
			sortSet(v)
		}
		out[name] = v
	}
	return out
}

func coreOf(r map[string]any) map[string]any {
	out := strictOf(r)
	delete(out, "outputs")
	delete(out, "initErrors")
	return out
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// StateResources returns a core digest of each resource of a state export by
// URN, to name later which of them changed.
func StateResources(export, key []byte, decrypt Decrypt) (map[string]string, error) {
	d, err := readExport(export)
	if err != nil {
		return nil, err
	}
	s, err := newSealer(key, decrypt, strings.NewReplacer())
	if err != nil {
		return nil, fmt.Errorf("digest state: %w", err)
	}
	// A replaced resource that is yet to be deleted shares its URN.
	byURN := map[string][]any{}
	for _, r := range d.Resources {
		sealed, err := sealResource(r, s, coreOf)
		if err != nil {
			return nil, fmt.Errorf("digest state: %w", err)
		}
		urn := text(r, "urn")
		byURN[urn] = append(byURN[urn], sealed)
	}
	out := make(map[string]string, len(byURN))
	for urn, entries := range byURN {
		sortSet(entries)
		out[urn] = digestOf(entries)
	}
	return out, nil
}

// PendingOperations lists the operations that an earlier run began and never
// finished, as in "creating urn:pulumi:…".
func PendingOperations(export []byte) ([]string, error) {
	d, err := readExport(export)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, operation := range d.Pending {
		out = append(out, operation.Type+" "+text(operation.Resource, "urn"))
	}
	slices.Sort(out)
	return out, nil
}

// Objects lists the Kubernetes objects that a stack owns, for health. What it
// only reads, and what is about to be deleted, is not its own.
func Objects(export []byte) ([]Object, error) {
	d, err := readExport(export)
	if err != nil {
		return nil, err
	}
	found := map[Object]bool{}
	for _, r := range d.Resources {
		if !strings.HasPrefix(text(r, "type"), kubernetesType) || r["external"] == true || r["delete"] == true {
			continue
		}
		o := Object{
			APIVersion: property(r, "apiVersion"),
			Kind:       property(r, "kind"),
			Namespace:  property(r, "metadata", "namespace"),
			Name:       property(r, "metadata", "name"),
		}
		if o.APIVersion != "" && o.Kind != "" && o.Name != "" {
			found[o] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b Object) int {
		return cmp.Or(
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion),
		)
	}), nil
}

// property is a text in a resource as it is, or else as the program asked for it.
func property(r map[string]any, p ...any) string {
	for _, part := range []string{"outputs", "inputs"} {
		if v, ok := lookup(r, append(path{part}, p...)).v.(string); ok {
			return v
		}
	}
	return ""
}

func text(r map[string]any, name string) string {
	s, _ := r[name].(string)
	return s
}
