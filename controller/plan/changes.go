package plan

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// changeList collects the property changes of one step.
type changeList struct {
	changes []v1alpha1.PropertyChange
	seen    map[string]bool
}

// changesOf lists what a step changes, by path. Deletes list nothing: everything
// goes.
func changesOf(kind v1alpha1.StepKind, m metadata) []v1alpha1.PropertyChange {
	l := &changeList{seen: map[string]bool{}}
	switch kind {
	case v1alpha1.StepCreate:
		l.compared(m)
	case v1alpha1.StepUpdate, v1alpha1.StepReplace:
		if len(m.DetailedDiff) > 0 {
			l.detailed(m)
		} else {
			l.compared(m)
		}
		l.options(m.before(), m.after())
	case v1alpha1.StepDelete:
	}
	slices.SortFunc(l.changes, func(a, b v1alpha1.PropertyChange) int { return cmp.Compare(a.Path, b.Path) })
	return l.changes
}

// detailed takes the paths that the provider names.
func (l *changeList) detailed(m metadata) {
	named := false
	for _, diff := range m.DetailedDiff {
		named = named || strings.HasSuffix(diff.Kind, "-replace")
	}
	for _, text := range slices.Sorted(maps.Keys(m.DetailedDiff)) {
		diff, p := m.DetailedDiff[text], parsePath(text)
		if p.internal() {
			continue
		}
		before := lookup(m.before().Inputs, p)
		if !before.ok {
			before = lookup(m.before().Outputs, p)
		}
		after := lookup(m.after().Inputs, p)
		if !after.ok {
			after = lookup(m.after().Outputs, p)
		}
		switch strings.TrimSuffix(diff.Kind, "-replace") {
		case "add":
			before = value{}
		case "delete":
			after = value{}
		}
		replaces := strings.HasSuffix(diff.Kind, "-replace") || !named && replaceKey(m.Keys, p)
		count := len(l.changes)
		l.diff(p, before, after, replaces)
		if len(l.changes) == count {
			// The two look the same here (a secret, or a default that the server
			// fills in), but the provider says that they are not.
			l.add(p, before, after, replaces)
		}
	}
}

// compared finds the changes itself, for providers that name no paths.
func (l *changeList) compared(m metadata) {
	before, after := m.before().Inputs, m.after().Inputs
	for _, key := range keysOf(before, after) {
		p := path{key}
		if p.internal() {
			continue
		}
		was, is := lookup(before, p), lookup(after, p)
		replaces := replaceKey(m.Keys, p)
		count := len(l.changes)
		l.diff(p, was, is, replaces)
		if len(l.changes) == count && (replaces || slices.Contains(m.Diffs, key)) {
			l.add(p, was, is, replaces)
		}
	}
}

// options lists the resource options that decide whether deleting is possible
// and what it does.
func (l *changeList) options(before, after *side) {
	if before.Protect != after.Protect {
		l.add(path{"options", "protect"}, value{before.Protect, true}, value{after.Protect, true}, false)
	}
	if before.RetainOnDelete != after.RetainOnDelete {
		l.add(path{"options", "retainOnDelete"}, value{before.RetainOnDelete, true}, value{after.RetainOnDelete, true}, false)
	}
}

// replaceKey reports whether the engine's replace keys name the path.
func replaceKey(keys []string, p path) bool {
	if len(p) == 0 {
		return false
	}
	top, _ := p[0].(string)
	return slices.Contains(keys, top) || slices.Contains(keys, p.String())
}

// diff walks two values side by side and adds every leaf that differs.
func (l *changeList) diff(p path, before, after value, replaces bool) {
	if p.internal() || before.ok == after.ok && reflect.DeepEqual(before.v, after.v) {
		return
	}
	wasShape, isShape := shapeOf(before), shapeOf(after)
	switch {
	case within(object, wasShape, isShape):
		was, _ := before.v.(map[string]any)
		is, _ := after.v.(map[string]any)
		for _, key := range keysOf(was, is) {
			old, hadKey := was[key]
			now, hasKey := is[key]
			l.diff(p.with(key), value{old, hadKey}, value{now, hasKey}, replaces)
		}
	case within(list, wasShape, isShape):
		was, _ := before.v.([]any)
		is, _ := after.v.([]any)
		for i := range max(len(was), len(is)) {
			l.diff(p.with(i), item(was, i), item(is, i), replaces)
		}
	default:
		l.add(p, before, after, replaces)
	}
}

// shape says by what parts a value can be told.
type shape int

const (
	absent shape = iota
	leaf         // also a secret, and an empty container: it has no parts
	object
	list
)

func shapeOf(v value) shape {
	if !v.ok {
		return absent
	}
	switch v := v.v.(type) {
	case map[string]any:
		if len(v) > 0 && !isSecret(v) {
			return object
		}
	case []any:
		if len(v) > 0 {
			return list
		}
	}
	return leaf
}

// within reports whether two values are told best by their parts: both have the
// shape, or one does and the other is absent.
func within(s, before, after shape) bool {
	return before == s && after == s || before == s && after == absent || before == absent && after == s
}

func item(items []any, i int) value {
	if i >= len(items) {
		return value{}
	}
	return value{items[i], true}
}

func keysOf(a, b map[string]any) []string {
	keys := slices.Collect(maps.Keys(a))
	keys = slices.AppendSeq(keys, maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// add records one change, masked and bounded.
func (l *changeList) add(p path, before, after value, replaces bool) {
	text := p.String()
	if l.seen[text] {
		return
	}
	l.seen[text] = true
	was, wasText := before.v.(string)
	is, isText := after.v.(string)
	if wasText && isText {
		before.v, after.v = aroundChange(was, is, maxValue)
	}
	change := v1alpha1.PropertyChange{Path: text, Replaces: replaces}
	// A null does not survive in an object's status; it reads as absent.
	if before.v != nil {
		change.Old = shown(before.v)
	}
	if after.v != nil {
		change.New = shown(after.v)
	}
	l.changes = append(l.changes, change)
}
