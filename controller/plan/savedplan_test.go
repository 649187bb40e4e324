package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// planFile is a plan file; run differs from preview to preview, as nonces,
// seeds, generated names and the order of sets do.
func planFile(run int, secret, dependency string) []byte {
	name := fmt.Sprintf("settings-%04dbeef", run)
	uid := fmt.Sprintf("%08d-aaaa-4bbb-8ccc-000000000000", run)
	dependencies := fmt.Sprintf(`[%q,"urn:a"]`, dependency)
	empty := `null`
	if run%2 == 0 {
		dependencies = fmt.Sprintf(`["urn:a",%q]`, dependency)
		empty = `[]`
	}
	return fmt.Appendf(nil, `{
		"manifest": {"time": "2026-11-30T22:00:%02dZ"},
		"config": {"orders:pw": {"secure": "v1:%d:x"}},
		"resourcePlans": {
			%q: {
				"goal": {
					"type": "kubernetes:core/v1:ConfigMap", "name": "settings", "custom": true, "protect": false,
					"inputDiff": {"adds": {
						"metadata": {"name": %q, "annotations": {"pulumi.com/autonamed": "true"}},
						"data": {"pw": %s, "url": %s}
					}},
					"dependencies": %s,
					"propertyDependencies": {"data": %s, "metadata": %s}
				},
				"steps": ["create"],
				"state": {"metadata": {"name": %q, "uid": %q, "creationTimestamp": "2026-11-30T22:01:%02dZ"}},
				"seed": "c2VlZA%d="
			},
			%q: {"goal": {"inputDiff": {"updates": {"owner": %q, "at": "2026-11-30T22:01:%02dZ"}}}, "steps": ["update"], "state": {}}
		}
	}`, run, run, configURN, name, encrypted(run, secret), encrypted(run+1, `"https://`+name+`/"`), dependencies,
		dependencies, empty, name, uid, run, run, otherURN, uid, run)
}

func TestSavedPlanDigest(t *testing.T) {
	t.Parallel()
	key := []byte("key of the stack")
	digest := func(t *testing.T, file, key []byte) string {
		t.Helper()
		got, err := SavedPlanDigest(file, key, plainly)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	original := digest(t, planFile(11, `"one"`, "urn:b"), key)
	same := map[string][]byte{
		"another preview":               planFile(12, `"one"`, "urn:b"),
		"another preview, sets as were": planFile(13, `"one"`, "urn:b"),
	}
	for name, file := range same {
		if digest(t, file, key) != original {
			t.Errorf("%s changes the digest", name)
		}
	}
	differ := map[string]string{
		"a changed secret":     digest(t, planFile(12, `"two"`, "urn:b"), key),
		"a changed dependency": digest(t, planFile(12, `"one"`, "urn:c"), key),
		"another key":          digest(t, planFile(12, `"one"`, "urn:b"), []byte("other")),
		"another step":         digest(t, []byte(strings.Replace(string(planFile(12, `"one"`, "urn:b")), `"update"`, `"delete"`, 1)), key),
		"protection":           digest(t, []byte(strings.Replace(string(planFile(12, `"one"`, "urn:b")), `"protect": false`, `"protect": true`, 1)), key),
	}
	for name, other := range differ {
		if other == original {
			t.Errorf("%s does not change the digest", name)
		}
	}
}

func TestSavedPlanDigestRefuses(t *testing.T) {
	t.Parallel()
	good := planFile(1, `"one"`, "urn:b")
	broken := errors.New("wrong passphrase")
	tests := map[string]struct {
		file    []byte
		key     []byte
		decrypt Decrypt
		is      error
	}{
		"what is not JSON":            {file: []byte("plan"), key: []byte("k"), decrypt: plainly},
		"what is not a plan":          {file: []byte("{}"), key: []byte("k"), decrypt: plainly},
		"an empty key":                {file: good, decrypt: plainly},
		"secrets without a decrypter": {file: good, key: []byte("k")},
		"a wrong passphrase": {
			file: good, key: []byte("k"), decrypt: func(string) (string, error) { return "", broken }, is: broken,
		},
		"a plaintext that is not JSON": {
			file: good, key: []byte("k"), decrypt: func(string) (string, error) { return "hunter2", nil },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := SavedPlanDigest(tc.file, tc.key, tc.decrypt)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) {
				t.Fatalf("error = %v", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}
