package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// export is a state export. What run alters is bookkeeping.
func export(run int, secret, replicas, resourceVersion string) []byte {
	order := []string{
		fmt.Sprintf(`{"urn": %q, "custom": false, "type": "pulumi:pulumi:Stack", "created": "2026-11-30T22:00:%02dZ", "outputs": {"pw": %s}}`,
			stackURN, run, encrypted(run, secret)),
		fmt.Sprintf(`{"urn": %q, "custom": true, "id": "shop-dev/web", "type": "kubernetes:apps/v1:Deployment",
			"inputs": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop-dev"}, "spec": {"replicas": %s}, "pw": %s},
			"outputs": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop-dev", "resourceVersion": %q}},
			"dependencies": ["urn:b", "urn:a"], "modified": "2026-11-30T22:00:%02dZ", "sourcePosition": "project:///x#%d"}`,
			deployURN, replicas, encrypted(run, secret), resourceVersion, run, run),
	}
	empty := ""
	if run%2 == 0 {
		order[0], order[1] = order[1], order[0]
		empty = `, "propertyDependencies": {"spec": null}, "initErrors": []`
	}
	text := fmt.Sprintf(`{"version": 3, "deployment": {"manifest": {"time": "2026-11-30T22:00:%02dZ"}, "resources": [%s], "metadata": {}}}`,
		run, strings.Join(order, ","))
	return []byte(strings.Replace(text, `"sourcePosition"`, `"stackTrace": [{"sourcePosition": "y"}]`+empty+`, "sourcePosition"`, 1))
}

type fingerprints struct{ core, strict string }

func fingerprintsOf(t *testing.T, export []byte) fingerprints {
	t.Helper()
	core, strict, err := StateFingerprint(export, []byte("key"), plainly)
	if err != nil {
		t.Fatal(err)
	}
	return fingerprints{core, strict}
}

func TestStateFingerprint(t *testing.T) {
	t.Parallel()
	original := fingerprintsOf(t, export(1, `"one"`, "3", "100"))
	tests := map[string]struct {
		export                 []byte
		coreSame, strictIsSame bool
	}{
		"another export of the same state": {export: export(2, `"one"`, "3", "100"), coreSame: true, strictIsSame: true},
		"a refresh":                        {export: export(1, `"one"`, "3", "101"), coreSame: true},
		"another value":                    {export: export(1, `"one"`, "4", "100")},
		"another secret":                   {export: export(1, `"two"`, "3", "100")},
		"an operation that never ended": {
			export: []byte(strings.Replace(string(export(1, `"one"`, "3", "100")), `"metadata": {}}}`,
				`"pending_operations": [{"type": "creating", "resource": {"urn": "urn:x"}}]}}`, 1)),
		},
		"an empty state": {export: nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fingerprintsOf(t, tc.export)
			if (got.core == original.core) != tc.coreSame {
				t.Errorf("core is the same: %t, want %t", !tc.coreSame, tc.coreSame)
			}
			if (got.strict == original.strict) != tc.strictIsSame {
				t.Errorf("strict is the same: %t, want %t", !tc.strictIsSame, tc.strictIsSame)
			}
		})
	}
}

func TestStateFingerprintOfAnEmptyStack(t *testing.T) {
	t.Parallel()
	want := fingerprintsOf(t, nil)
	for name, export := range map[string]string{
		"no deployment":       `{"version": 3}`,
		"a null deployment":   `{"version": 3, "deployment": null}`,
		"never applied":       `{"version": 3, "deployment": {"manifest": {"time": "2026-11-30T22:00:56Z"}, "metadata": {}}}`,
		"null resources":      `{"version": 3, "deployment": {"resources": null}}`,
		"everything is gone":  `{"version": 3, "deployment": {"resources": [], "pending_operations": []}}`,
		"nothing but a break": "\n",
	} {
		if got := fingerprintsOf(t, []byte(export)); got != want {
			t.Errorf("%s: another fingerprint than a stack that was never made", name)
		}
	}
}

func TestStateFingerprintRefusesWhatIsNotAnExport(t *testing.T) {
	t.Parallel()
	for name, export := range map[string]string{
		"text":        "no stack named 'dev' found",
		"a list":      "[]",
		"other types": `{"deployment": {"resources": {}}}`,
	} {
		if _, _, err := StateFingerprint([]byte(export), []byte("key"), plainly); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := StateFingerprint(nil, nil, plainly); err == nil {
		t.Error("an empty key is accepted")
	}
}

func TestStateResourcesNameWhatChanged(t *testing.T) {
	t.Parallel()
	resources := func(export []byte) map[string]string {
		got, err := StateResources(export, []byte("key"), plainly)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := resources(export(1, `"one"`, "3", "100"))
	if d := CompareStateResources(before, resources(export(2, `"one"`, "3", "101"))); d != nil {
		t.Errorf("a refresh is named: %v", d)
	}
	got := CompareStateResources(before, resources(export(2, `"one"`, "4", "101")))
	if len(got) != 1 || got[0].What != "web-deployment Deployment" || !strings.Contains(got[0].Detail, "changed") {
		t.Errorf("differences = %v", got)
	}
	if got := CompareStateResources(before, nil); len(got) != 2 || !strings.Contains(got[0].Detail, "removed") {
		t.Errorf("differences = %v", got)
	}
	if got := CompareStateResources(nil, before); len(got) != 2 || !strings.Contains(got[0].Detail, "added") {
		t.Errorf("differences = %v", got)
	}
}

func TestPendingOperations(t *testing.T) {
	t.Parallel()
	got, err := PendingOperations([]byte(`{"deployment": {"pending_operations": [
		{"type": "updating", "resource": {"urn": "urn:b"}}, {"type": "creating", "resource": {"urn": "urn:a"}}, {"type": "reading"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"creating urn:a", "reading ", "updating urn:b"}, got); d != "" {
		t.Errorf("pending operations (-want +got):\n%s", d)
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	got, err := Objects([]byte(`{"deployment": {"resources": [
		{"type": "pulumi:pulumi:Stack"},
		{"type": "kubernetes:core/v1:Namespace", "inputs": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}},
		{"type": "kubernetes:apps/v1:Deployment", "outputs": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}},
		{"type": "kubernetes:apps/v1:Deployment", "delete": true, "outputs": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "old", "namespace": "shop"}}},
		{"type": "kubernetes:core/v1:Secret", "external": true, "outputs": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "read", "namespace": "shop"}}},
		{"type": "kubernetes:yaml:ConfigGroup", "inputs": {}},
		{"type": "aws:s3:Bucket", "inputs": {"apiVersion": "v1", "kind": "Bucket", "metadata": {"name": "b"}}}
	]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Object{
		{APIVersion: "v1", Kind: "Namespace", Name: "shop"},
		{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("objects (-want +got):\n%s", d)
	}
}
