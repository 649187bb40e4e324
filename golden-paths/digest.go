package goldenpaths

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Digest is sha256:<hex> over everything that decides what a golden path does. It
// does not depend on how an API server spells the JSON of a default.
func Digest(token, component string, inputs []v1alpha1.GoldenPathInput) string {
	canonical, err := canonicalJSON(map[string]any{"token": token, "component": component, "inputs": inputs})
	if err != nil {
		// Only a default that is no JSON gets here; it must not match any digest.
		canonical = fmt.Appendf(nil, "invalid: %v", err)
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// canonicalJSON has sorted keys and no needless space.
func canonicalJSON(value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	canonical, err := json.Marshal(plain)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return canonical, nil
}
