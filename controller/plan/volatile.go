package plan

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// volatile maps texts that the engine or a dry run made up for one preview to
// what stands in their place.
type volatile map[string]standIn

// standIn replaces a made-up text.
type standIn struct {
	// canonical is the same in every preview and differs from resource to resource.
	canonical string
	// shown is for people: what they would approve is not what will be.
	shown string
}

// shortest is the least length of a made-up text; anything shorter might be in
// other values by chance.
const shortest = 8

// autoname splits a generated name into what the program says and what is random.
// Only the random part may go: the rest is the author's choice.
var autoname = regexp.MustCompile(`^(.*[^0-9a-z])[0-9a-z]{4,}$`)

// dryRunFields names properties that the API server fills in anew in each dry
// run, and says whether they are times.
var dryRunFields = map[string]bool{
	"uid": false, "resourceVersion": false, "manager": false, "__fieldManager": false,
	"creationTimestamp": true, "time": true,
}

// autonamed learns the generated name in the inputs of a resource to be created.
func (t volatile) autonamed(urn string, inputs map[string]any) {
	if textAt(inputs, "metadata", "annotations", "pulumi.com/autonamed") != "true" {
		return
	}
	name := textAt(inputs, "metadata", "name")
	if parts := autoname.FindStringSubmatch(name); parts != nil && len(name) >= shortest {
		t.learn(name, standIn{"<autoname " + parts[1] + " of " + urn + ">", parts[1] + unknownText})
	}
}

// dryRun learns what the API server made up for a resource: what is in the
// outputs, but was neither asked for nor there before.
func (t volatile) dryRun(urn string, inputs, before, outputs map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(outputs)) {
		if key == "__inputs" {
			continue
		}
		leaves(path{key}, outputs[key], func(p path, text string) {
			field, _ := p[len(p)-1].(string)
			isTime, madeUp := dryRunFields[field]
			if !madeUp || len(text) < shortest || text == unknownValue || text == secretText {
				return
			}
			if lookup(inputs, p).ok || lookup(before, p).v == any(text) {
				return
			}
			if isTime {
				// Objects made in the same second share it: no name can tell whose it is.
				t.learn(text, standIn{"<time of a dry run>", unknownText})
				return
			}
			t.learn(text, standIn{"<" + p.String() + " of " + urn + ">", unknownText})
		})
	}
}

// learn keeps the smallest name, so that the order of events does not matter.
func (t volatile) learn(text string, with standIn) {
	if known, ok := t[text]; !ok || with.canonical < known.canonical {
		t[text] = with
	}
}

// canonical puts names in the place of the texts.
func (t volatile) canonical() *strings.Replacer {
	return t.replacer(func(s standIn) string { return s.canonical })
}

// shown says of the texts that they are not known yet.
func (t volatile) shown() *strings.Replacer {
	return t.replacer(func(s standIn) string { return s.shown })
}

// replacer replaces the longest texts first: one may be part of another.
func (t volatile) replacer(with func(standIn) string) *strings.Replacer {
	texts := slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	pairs := make([]string, 0, 2*len(texts))
	for _, text := range texts {
		pairs = append(pairs, text, with(t[text]))
	}
	return strings.NewReplacer(pairs...)
}

// leaves calls visit for every text in a value that is not secret.
func leaves(p path, v any, visit func(path, string)) {
	switch v := v.(type) {
	case string:
		visit(p, v)
	case []any:
		for i, item := range v {
			leaves(p.with(i), item, visit)
		}
	case map[string]any:
		if isSecret(v) {
			return
		}
		for key, item := range v {
			leaves(p.with(key), item, visit)
		}
	}
}
