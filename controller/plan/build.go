package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Build makes the plan of one operation from its engine events, in the order in
// which the engine wrote them.
//
// Steps and counts are about custom resources. Component instances and the Stack
// have no effect of their own; a provider counts only when an existing one
// changes, because that changes how everything under it runs.
func Build(events []Event) (Plan, error) {
	decoded, err := decodeEvents(events)
	if err != nil {
		return Plan{}, err
	}
	b := builder{resources: map[string]*resource{}, sides: map[string]*side{}}
	unknown := notYetKnown(decoded)
	for _, e := range decoded {
		switch {
		case e.Pre != nil:
			b.step(withUnknowns(*e.Pre, unknown))
		case e.Out != nil:
			b.outcome(withUnknowns(*e.Out, unknown))
		}
	}
	p := b.plan()
	p.EffectDigest = effectDigest(decoded)
	return p, nil
}

// withUnknowns returns what a step event says, with the values that a preview
// made up marked as unknown.
func withUnknowns(e stepEvent, unknown func(string) string) metadata {
	m := e.Metadata
	if e.Planning && m.New != nil && m.Op != opSame {
		after := *m.New
		after.Inputs, _ = settled(after.Inputs, unknown).(map[string]any)
		m.New = &after
	}
	if e.Planning && m.New != nil && m.Type == stackType {
		after := *m.New
		after.Outputs, _ = settled(after.Outputs, unknown).(map[string]any)
		m.New = &after
	}
	return m
}

// resource gathers what the engine says about one URN.
type resource struct {
	same, change, replace, remove *metadata
	refreshing                    bool
	found                         *metadata
}

type builder struct {
	resources map[string]*resource
	// sides is the last known state by URN, to find parents in.
	sides   map[string]*side
	outputs map[string]any
}

func (b *builder) at(m metadata) *resource {
	b.sides[m.URN] = m.state()
	r := b.resources[m.URN]
	if r == nil {
		r = &resource{}
		b.resources[m.URN] = r
	}
	return r
}

// step takes an event that announces a step.
func (b *builder) step(m metadata) {
	r := b.at(m)
	switch m.Op {
	case opSame:
		r.same = &m
	case opCreate, opImport, opUpdate:
		r.change = &m
	case opCreateReplacement, opImportReplacement, opReadReplacement:
		r.replace = &m
	case opReplace:
		// The logical step in the middle; the one that creates tells more.
		if r.replace == nil {
			r.replace = &m
		}
	case opDelete, opDeleteReplaced:
		r.remove = &m
	case opRefresh:
		r.refreshing = true
	}
}

// outcome takes an event that ends a step.
func (b *builder) outcome(m metadata) {
	if m.Type == stackType && m.New != nil {
		// The Stack reports twice; only the last time it knows its outputs.
		b.outputs = m.New.Outputs
	}
	// A refresh tells what it found only at its end.
	if r := b.resources[m.URN]; r != nil && r.refreshing {
		r.found = &m
	}
}

func (b *builder) plan() Plan {
	var p Plan
	for _, r := range b.resources {
		for _, step := range b.steps(r, &p.Summary) {
			p.Steps = append(p.Steps, step)
			count(&p.Summary, step.Kind)
		}
	}
	slices.SortFunc(p.Steps, func(x, y v1alpha1.PlanStep) int {
		return cmp.Or(cmp.Compare(gravity(x.Kind), gravity(y.Kind)), cmp.Compare(x.URN, y.URN))
	})
	p.Summary.Text = summaryText(p.Summary)
	if b.outputs != nil {
		p.Outputs = make(map[string]apiextensionsv1.JSON, len(b.outputs))
		for name, v := range b.outputs {
			p.Outputs[name] = apiextensionsv1.JSON{Raw: encode(mask(v))}
		}
	}
	return p
}

// steps is what happens to one resource: mostly one thing, but what an earlier,
// broken replace left behind is deleted beside.
func (b *builder) steps(r *resource, summary *v1alpha1.PlanSummary) []v1alpha1.PlanStep {
	var out []v1alpha1.PlanStep
	add := func(kind v1alpha1.StepKind, m metadata) {
		if counts(kind, m) {
			out = append(out, b.newStep(kind, m))
		}
	}
	if r.found != nil && r.same == nil && r.change == nil && r.replace == nil && r.remove == nil {
		switch r.found.Op {
		case opUpdate:
			r.change = r.found
		case opDelete:
			r.remove = r.found
		default:
			r.same = r.found
		}
	}
	switch {
	case r.replace != nil:
		add(v1alpha1.StepReplace, *r.replace)
		return out
	case r.change != nil && r.change.Op == opUpdate:
		add(v1alpha1.StepUpdate, *r.change)
	case r.change != nil:
		add(v1alpha1.StepCreate, *r.change)
	case r.same != nil:
		m := *r.same
		if m.before().Protect != m.after().Protect || m.before().RetainOnDelete != m.after().RetainOnDelete {
			add(v1alpha1.StepUpdate, m)
		} else if isCustom(m) {
			summary.Same++
		}
	}
	if r.remove != nil {
		add(v1alpha1.StepDelete, *r.remove)
	}
	return out
}

// isCustom reports whether people would call this a resource.
func isCustom(m metadata) bool {
	return m.state().Custom && !strings.HasPrefix(m.Type, providerPrefix)
}

func counts(kind v1alpha1.StepKind, m metadata) bool {
	if strings.HasPrefix(m.Type, providerPrefix) {
		return kind == v1alpha1.StepUpdate || kind == v1alpha1.StepReplace
	}
	return isCustom(m)
}

func (b *builder) newStep(kind v1alpha1.StepKind, m metadata) v1alpha1.PlanStep {
	_, name := urnParts(m.URN)
	return v1alpha1.PlanStep{
		Kind:    kind,
		URN:     m.URN,
		Type:    m.Type,
		Name:    name,
		Parent:  b.component(m),
		Object:  objectName(m),
		Changes: changesOf(kind, m),
	}
}

// component is the logical name of the nearest component instance above.
func (b *builder) component(m metadata) string {
	urn := m.state().Parent
	// The engine's tree has no cycles; a hostile log might.
	for range len(b.sides) + 1 {
		typ, name := urnParts(urn)
		if urn == "" || typ == stackType {
			return ""
		}
		s := b.sides[urn]
		if s == nil || !s.Custom {
			return name
		}
		urn = s.Parent
	}
	return ""
}

// objectName is namespace/name of a Kubernetes object.
func objectName(m metadata) string {
	if !strings.HasPrefix(m.Type, kubernetesType) {
		return ""
	}
	s := m.state()
	name := textAt(s.Inputs, "metadata", "name")
	if name == "" {
		// What is in the state has its name in the ID, whatever its inputs say.
		return cmp.Or(s.ID, m.before().ID)
	}
	if namespace := textAt(s.Inputs, "metadata", "namespace"); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// textAt is the text of a property, masked, or "".
func textAt(root map[string]any, p ...any) string {
	text, _ := mask(lookup(root, p).v).(string)
	return text
}

// gravity orders steps by what they may cost.
func gravity(kind v1alpha1.StepKind) int {
	switch kind {
	case v1alpha1.StepDelete:
		return 0
	case v1alpha1.StepReplace:
		return 1
	case v1alpha1.StepUpdate:
		return 2
	case v1alpha1.StepCreate:
		return 3
	}
	return 4
}

func count(s *v1alpha1.PlanSummary, kind v1alpha1.StepKind) {
	switch kind {
	case v1alpha1.StepCreate:
		s.Create++
	case v1alpha1.StepUpdate:
		s.Update++
	case v1alpha1.StepReplace:
		s.Replace++
	case v1alpha1.StepDelete:
		s.Delete++
	}
}

// summaryText is the counts in words.
func summaryText(s v1alpha1.PlanSummary) string {
	var parts []string
	for _, part := range []struct {
		n    int32
		verb string
	}{{s.Create, "create"}, {s.Update, "update"}, {s.Replace, "replace"}, {s.Delete, "delete"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", part.n, part.verb))
		}
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}
