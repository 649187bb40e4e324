package plan

// Digest is the plan digest that reviews name: sha256:<hex> over the digests of
// everything that went into the plan and of what it does.
func Digest(inputs map[string]string, effectDigest string) string {
	if inputs == nil {
		inputs = map[string]string{}
	}
	return digestOf(map[string]any{"inputs": inputs, "effect": effectDigest})
}
