package plan

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func FuzzBuild(f *testing.F) {
	f.Add([]byte(`{"resourcePreEvent":{"metadata":{"op":"create","urn":"x","type":"kubernetes:x","new":{"custom":true,"inputs":{"metadata":7}}}}}`))
	f.Add([]byte(`{"resourcePreEvent":{"metadata":{"op":"update","new":null,"detailedDiff":{"":{},"a[-1]":{},"[\"":{}},"keys":[""]}}}`))
	f.Add([]byte("{}\nnull\n{\"resOutputsEvent\":{}}"))
	f.Add(bytes.Join([][]byte{
		sampleStep{op: opUpdate, urn: configURN, old: props{"a": []any{1}}, new: props{"a": "b"}, diff: map[string]string{"a[0].b": "update-replace"}}.pre(f),
		sampleStep{op: opCreate, urn: deployURN, new: props{"s": secretMark}, newOuts: props{"metadata": props{"uid": "12345678"}}}.out(f),
		stackOutputs(f, props{"s": secretMark}),
	}, []byte("\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		events := splitEvents(data)
		p, err := Build(events)
		if err != nil {
			return
		}
		if p.EffectDigest != EffectDigest(events) {
			t.Error("Build and EffectDigest disagree")
		}
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("the plan is not JSON: %v", err)
		}
		counted := v1alpha1.PlanSummary{Same: p.Summary.Same, Text: p.Summary.Text}
		for i, step := range p.Steps {
			count(&counted, step.Kind)
			if i > 0 && gravity(step.Kind) < gravity(p.Steps[i-1].Kind) {
				t.Errorf("step %d is graver than the one before", i)
			}
		}
		if counted != p.Summary {
			t.Errorf("summary %+v, but the steps are %+v", p.Summary, counted)
		}
		if differences := CompareSteps(p.Steps, p.Steps); len(differences) > 0 {
			t.Errorf("a plan differs from itself: %v", differences)
		}
		printable(t, Text(Bound(p, 2000), p.Summary))
	})
}

func FuzzSanitize(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b]8;;http://x\x07", "\u202e\u2066", "\xff\xfe", "\U000e0041\u3164"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Sanitize(in)
		if Sanitize(got) != got {
			t.Errorf("Sanitize(%q) is not the same when done twice", got)
		}
		if bytes.ContainsAny([]byte(got), "\n\r\t") {
			t.Errorf("Sanitize(%q) = %q has more than one line", in, got)
		}
		printable(t, got)
	})
}

func FuzzStateFingerprint(f *testing.F) {
	f.Add(export(1, `"one"`, "3", "100"))
	f.Add([]byte(`{"deployment":{"resources":[null,{"urn":7,"inputs":[]}],"pending_operations":[{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		core, strict, err := StateFingerprint(data, []byte("key"), plainly)
		if err != nil {
			return
		}
		if core == "" || strict == "" {
			t.Error("an empty fingerprint without an error")
		}
		if _, err := Objects(data); err != nil {
			t.Errorf("objects: %v", err)
		}
		if _, err := PendingOperations(data); err != nil {
			t.Errorf("pending operations: %v", err)
		}
	})
}

// printable fails the test if a text holds anything that a terminal obeys or
// does not show.
func printable(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%q is not UTF-8", s)
	}
	for _, r := range s {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%q holds %U", s, r)
		}
	}
}
