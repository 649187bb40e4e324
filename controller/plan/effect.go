package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// EffectDigest is sha256:<hex> over what the events say will happen, in a
// canonical form: the same for every preview of the same program on the same
// state, whatever the order of events, the generated names and what the API
// server's dry run made up. It is blind to the values of secrets, to text around
// values that are not known yet, and to dependencies: the other parts of the plan
// digest cover those.
//
// An event that cannot be read is covered byte by byte, so that it can never
// match a plan that was signed.
func EffectDigest(events []Event) string {
	var decoded []event
	var unreadable []string
	for _, raw := range events {
		one, err := decodeEvents([]Event{raw})
		if err != nil {
			unreadable = append(unreadable, string(raw))
			continue
		}
		decoded = append(decoded, one...)
	}
	if len(unreadable) > 0 {
		slices.Sort(unreadable)
		return digestOf(map[string]any{"unreadable": unreadable, "effect": effectDigest(decoded)})
	}
	return effectDigest(decoded)
}

// canonicalStep is a step with everything in it that has an effect.
type canonicalStep struct {
	Op           string                  `json:"op"`
	URN          string                  `json:"urn"`
	Type         string                  `json:"type"`
	Provider     string                  `json:"provider"`
	OldID        string                  `json:"oldID"`
	Old          *canonicalSide          `json:"old"`
	New          *canonicalSide          `json:"new"`
	Keys         []string                `json:"keys"`
	Diffs        []string                `json:"diffs"`
	DetailedDiff map[string]propertyDiff `json:"detailedDiff"`
}

type canonicalSide struct {
	Type           string `json:"type"`
	URN            string `json:"urn"`
	Parent         string `json:"parent"`
	Provider       string `json:"provider"`
	Custom         bool   `json:"custom"`
	Delete         bool   `json:"delete"`
	Protect        bool   `json:"protect"`
	External       bool   `json:"external"`
	RetainOnDelete bool   `json:"retainOnDelete"`
	Taint          bool   `json:"taint"`
	Inputs         any    `json:"inputs"`
}

func effectDigest(events []event) string {
	names := madeUp(events).canonical().Replace
	steps := []json.RawMessage{}
	add := func(m metadata) {
		if step, ok := canonical(m, names); ok {
			steps = append(steps, encode(step))
		}
	}
	refreshing := map[string]bool{}
	var outputs any
	for _, e := range events {
		switch {
		case e.Pre != nil:
			add(e.Pre.Metadata)
			if e.Pre.Metadata.Op == opRefresh {
				refreshing[e.Pre.Metadata.URN] = true
			}
		case e.Out != nil:
			m := e.Out.Metadata
			if m.Type == stackType && m.New != nil {
				outputs = settled(m.New.Outputs, names)
			}
		}
	}
	for _, e := range events {
		// What a refresh finds is known only at its end.
		if e.Out != nil && refreshing[e.Out.Metadata.URN] {
			add(e.Out.Metadata)
		}
	}
	slices.SortFunc(steps, func(a, b json.RawMessage) int { return cmp.Compare(string(a), string(b)) })
	return digestOf(map[string]any{"steps": steps, "outputs": outputs})
}

// madeUp finds the texts that only this preview knows.
func madeUp(events []event) volatile {
	t := dryRunTexts(events)
	for _, e := range events {
		if e.Pre != nil && creates(e.Pre.Metadata.Op) {
			t.autonamed(e.Pre.Metadata.URN, e.Pre.Metadata.after().Inputs)
		}
	}
	return t
}

// dryRunTexts finds what the API server made up.
func dryRunTexts(events []event) volatile {
	t := volatile{}
	for _, e := range events {
		if e.Out == nil {
			continue
		}
		m := e.Out.Metadata
		switch {
		case creates(m.Op):
			t.dryRun(m.URN, m.after().Inputs, nil, m.after().Outputs)
		case m.Op == opUpdate:
			t.dryRun(m.URN, m.after().Inputs, m.before().Outputs, m.after().Outputs)
		}
	}
	return t
}

func creates(op string) bool { return op == opCreate || op == opCreateReplacement }

// canonical returns a step in canonical form. A resource that stays as it is has
// no effect, unless one of its options changes.
func canonical(m metadata, names func(string) string) (canonicalStep, bool) {
	before, after := canonicalSideOf(m.Old, names), canonicalSideOf(m.New, names)
	if m.Op == opSame && string(encode(before)) == string(encode(after)) {
		return canonicalStep{}, false
	}
	return canonicalStep{
		Op:           m.Op,
		URN:          m.URN,
		Type:         m.Type,
		Provider:     m.Provider,
		OldID:        m.before().ID,
		Old:          before,
		New:          after,
		Keys:         slices.Sorted(slices.Values(m.Keys)),
		Diffs:        slices.Sorted(slices.Values(m.Diffs)),
		DetailedDiff: m.DetailedDiff,
	}, true
}

func canonicalSideOf(s *side, names func(string) string) *canonicalSide {
	if s == nil {
		return nil
	}
	return &canonicalSide{
		Type:           s.Type,
		URN:            s.URN,
		Parent:         s.Parent,
		Provider:       s.Provider,
		Custom:         s.Custom,
		Delete:         s.Delete,
		Protect:        s.Protect,
		External:       s.External,
		RetainOnDelete: s.RetainOnDelete,
		Taint:          s.Taint,
		Inputs:         settled(s.Inputs, names),
	}
}

// settled returns a value with its texts renamed, and every secret as the same
// mark.
func settled(v any, names func(string) string) any {
	switch v := v.(type) {
	case string:
		return names(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = settled(item, names)
		}
		return out
	case map[string]any:
		if isSecret(v) {
			return map[string]any{signatureKey: secretSignature}
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = settled(item, names)
		}
		return out
	}
	return v
}

// digestOf is sha256:<hex> over a value as JSON, with the keys of objects sorted.
func digestOf(v any) string {
	sum := sha256.Sum256(encode(v))
	return fmt.Sprintf("sha256:%s", hex.EncodeToString(sum[:]))
}
