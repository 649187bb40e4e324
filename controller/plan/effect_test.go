package plan

import (
	"slices"
	"strings"
	"testing"
)

// preview is what one preview reports of a program with generated names, dry-run
// values and secrets; random is what differs from preview to preview.
func preview(t *testing.T, random string, change func(steps []sampleStep)) []Event {
	t.Helper()
	name, uid := "settings-"+random+"beef", random+"0000-aaaa-4bbb-8ccc-000000000000"
	steps := []sampleStep{
		{op: opSame, urn: stackURN, old: props{}, new: props{}},
		{
			op: opCreate, urn: configURN,
			new: props{"metadata": props{"name": name, "annotations": props{"pulumi.com/autonamed": "true"}}, "data": props{"pw": secretMark}},
			newOuts: props{"metadata": props{
				"name": name, "uid": uid, "creationTimestamp": "2026-11-30T22:00:" + random[:2] + "Z",
				"managedFields": []any{props{"manager": "pulumi-kubernetes-" + random, "time": "2026-11-30T22:00:" + random[:2] + "Z"}},
			}},
		},
		{
			op: opUpdate, urn: deployURN,
			old:  props{"env": "v1"},
			new:  props{"env": "uses " + name, "owner": uid, "id": unknownValue},
			diff: map[string]string{"env": "update", "owner": "add"},
		},
		{op: opSame, urn: otherURN, old: props{"a": 1}, new: props{"a": 1}},
	}
	if change != nil {
		change(steps)
	}
	var events []Event
	for _, s := range steps {
		events = append(events, s.pre(t), s.out(t))
	}
	return append(events, stackOutputs(t, props{"name": name, "uid": uid}))
}

func TestEffectDigestIsTheSameForEveryPreview(t *testing.T) {
	t.Parallel()
	first := EffectDigest(preview(t, "1234", nil))
	if !strings.HasPrefix(first, "sha256:") || len(first) != len("sha256:")+64 {
		t.Fatalf("digest = %q", first)
	}
	if again := EffectDigest(preview(t, "5678", nil)); again != first {
		t.Error("another preview of the same program has another digest")
	}
	reversed := preview(t, "1234", nil)
	outputs := reversed[len(reversed)-1]
	reversed = reversed[:len(reversed)-1]
	slices.Reverse(reversed)
	if again := EffectDigest(append(reversed, outputs)); again != first {
		t.Error("the order of events changes the digest")
	}
	built, err := Build(preview(t, "1234", nil))
	if err != nil {
		t.Fatal(err)
	}
	if built.EffectDigest != first {
		t.Error("Build gives another digest")
	}
}

func TestEffectDigestSeesEveryEffect(t *testing.T) {
	t.Parallel()
	tests := map[string]func([]sampleStep){
		"a value":                             func(s []sampleStep) { s[2].new["env"] = "other" },
		"an old value":                        func(s []sampleStep) { s[2].old["env"] = "v0" },
		"a value that is no longer secret":    func(s []sampleStep) { s[1].new["data"] = props{"pw": "plain"} },
		"an operation":                        func(s []sampleStep) { s[2].op = opDelete },
		"a resource":                          func(s []sampleStep) { s[2].urn = otherURN + "2" },
		"protection of an unchanged resource": func(s []sampleStep) { s[3].oldSide = props{"protect": true} },
		"keeping an unchanged resource":       func(s []sampleStep) { s[3].newSide = props{"retainOnDelete": true} },
		"a parent":                            func(s []sampleStep) { s[2].newSide = props{"parent": stackURN} },
		"a path that replaces":                func(s []sampleStep) { s[2].diff["env"] = "update-replace" },
		"a replace key":                       func(s []sampleStep) { s[2].keys = []string{"env"} },
		"the text before a generated name": func(s []sampleStep) {
			s[1].new["metadata"].(props)["name"] = "evil-1234beef"
			s[2].new["env"] = "uses evil-1234beef"
		},
		"a name that only pretends to be generated": func(s []sampleStep) {
			s[1].new["metadata"].(props)["name"] = "settings"
			s[2].new["env"] = "uses settings"
		},
	}
	original := EffectDigest(preview(t, "1234", nil))
	seen := map[string]string{original: "the original"}
	for name, change := range tests {
		digest := EffectDigest(preview(t, "1234", change))
		if other, ok := seen[digest]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[digest] = name
	}
	outputs := preview(t, "1234", nil)
	outputs[len(outputs)-1] = stackOutputs(t, props{"name": "other"})
	if _, ok := seen[EffectDigest(outputs)]; ok {
		t.Error("an output does not change the digest")
	}
	if _, ok := seen[EffectDigest(append(preview(t, "1234", nil), Event("not JSON")))]; ok {
		t.Error("an unreadable event does not change the digest")
	}
}

func TestEffectDigestSeesWhatARefreshFinds(t *testing.T) {
	t.Parallel()
	refresh := sampleStep{op: opRefresh, urn: configURN, old: settings(nil), new: settings(nil)}
	find := func(value string) string {
		found := sampleStep{op: opUpdate, urn: configURN, old: settings(nil), new: settings(props{"a": value})}
		return EffectDigest([]Event{refresh.pre(t), found.out(t)})
	}
	if find("1") == find("2") {
		t.Error("different drift has the same digest")
	}
}
