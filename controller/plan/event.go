package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The engine's operations that this package tells apart.
const (
	opSame              = "same"
	opCreate            = "create"
	opImport            = "import"
	opUpdate            = "update"
	opDelete            = "delete"
	opReplace           = "replace"
	opCreateReplacement = "create-replacement"
	opImportReplacement = "import-replacement"
	opReadReplacement   = "read-replacement"
	opDeleteReplaced    = "delete-replaced"
	opRefresh           = "refresh"
)

const (
	stackType      = "pulumi:pulumi:Stack"
	providerPrefix = "pulumi:providers:"
	kubernetesType = "kubernetes:"
)

// event is the part of apitype.EngineEvent that plans are made of.
type event struct {
	Pre *stepEvent `json:"resourcePreEvent"`
	Out *stepEvent `json:"resOutputsEvent"`
}

type stepEvent struct {
	Metadata metadata `json:"metadata"`
	// Planning is set by previews, whose values may be made up.
	Planning bool `json:"planning"`
}

// metadata is apitype.StepEventMetadata.
type metadata struct {
	Op           string                  `json:"op"`
	URN          string                  `json:"urn"`
	Type         string                  `json:"type"`
	Provider     string                  `json:"provider"`
	Old          *side                   `json:"old"`
	New          *side                   `json:"new"`
	Keys         []string                `json:"keys"`
	Diffs        []string                `json:"diffs"`
	DetailedDiff map[string]propertyDiff `json:"detailedDiff"`
}

// side is apitype.StepEventStateMetadata: a resource before or after a step.
type side struct {
	Type           string         `json:"type"`
	URN            string         `json:"urn"`
	ID             string         `json:"id"`
	Parent         string         `json:"parent"`
	Provider       string         `json:"provider"`
	Custom         bool           `json:"custom"`
	Delete         bool           `json:"delete"`
	Protect        bool           `json:"protect"`
	External       bool           `json:"external"`
	RetainOnDelete bool           `json:"retainOnDelete"`
	Taint          bool           `json:"taint"`
	Inputs         map[string]any `json:"inputs"`
	Outputs        map[string]any `json:"outputs"`
}

// propertyDiff is apitype.PropertyDiff.
type propertyDiff struct {
	Kind      string `json:"diffKind"`
	InputDiff bool   `json:"inputDiff"`
}

// decodeEvents reads the events that carry steps; all others become empty.
func decodeEvents(events []Event) ([]event, error) {
	out := make([]event, 0, len(events))
	for i, raw := range events {
		var e event
		if err := decodeJSON(raw, &e); err != nil {
			return nil, fmt.Errorf("read engine event %d of %d: %w", i+1, len(events), err)
		}
		out = append(out, e)
	}
	return out, nil
}

// decodeJSON reads one JSON value and nothing after it. Numbers keep the text
// they have, so that a digest never depends on rounding.
func decodeJSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// state is the resource as the step leaves it, or as it was if the step removes
// it. It is never nil.
func (m metadata) state() *side {
	switch {
	case m.New != nil:
		return m.New
	case m.Old != nil:
		return m.Old
	}
	return &side{}
}

// before and after never return nil.
func (m metadata) before() *side { return orEmpty(m.Old) }
func (m metadata) after() *side  { return orEmpty(m.New) }

func orEmpty(s *side) *side {
	if s == nil {
		return &side{}
	}
	return s
}

// urnParts returns the type and the logical name in a URN
// (urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME).
func urnParts(urn string) (typ, name string) {
	parts := strings.SplitN(urn, "::", 4)
	if len(parts) < 4 {
		return "", urn
	}
	typ = parts[2]
	if i := strings.LastIndexByte(typ, '$'); i >= 0 {
		typ = typ[i+1:]
	}
	return typ, parts[3]
}
