package plan

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// The files in testdata are what Pulumi 3.219.0 with the Kubernetes provider
// 4.25.0 wrote for one program against a real API server; only diagnostics and
// source positions were taken out. The passphrase of their secrets is "x".

func TestRealPreview(t *testing.T) {
	t.Parallel()
	p, err := Build(readEvents(t, "preview.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, step := range p.Steps {
		line := fmt.Sprintf("%s %s", step.Kind, stepTitle(step))
		for _, c := range step.Changes {
			if c.Old != nil {
				line += fmt.Sprintf("; %s: %s → %s, replaces %t", c.Path, c.Old.Raw, c.New.Raw, c.Replaces)
			}
		}
		got = append(got, line)
	}
	want := []string{
		"Delete shop-dev/old ConfigMap",
		`Replace shop-dev/web-settings ConfigMap; data.color: "blue" → "green", replaces true`,
		`Replace shop-dev/web-credentials Secret; data.password: "[secret]" → "[secret]", replaces true`,
		`Update shop-dev/web Deployment; spec.replicas: 2 → 3, replaces false; ` +
			`spec.template.spec.containers[0].image: "registry.example/web:1.0.0" → "registry.example/web:1.1.0", replaces false`,
		"Create shop-dev/consumer ConfigMap",
		"Create shop-dev/named-[unknown] ConfigMap",
		"Create shop-dev/web Service",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	if want := "3 to create, 1 to update, 2 to replace, 1 to delete"; p.Summary.Text != want {
		t.Errorf("summary = %q, want %q", p.Summary.Text, want)
	}
	for name, want := range map[string]string{"name": `"web"`, "password": `"[secret]"`, "ip": `"[unknown]"`} {
		if got := string(p.Outputs[name].Raw); got != want {
			t.Errorf("output %s = %s, want %s", name, got, want)
		}
	}
	for _, c := range p.Steps[4].Changes {
		// The values that the dry run gives are not those of the apply.
		if strings.HasPrefix(c.Path, "data.") && string(c.New.Raw) != `"[unknown]"` {
			t.Errorf("the consumer's %s = %s, want it unknown", c.Path, c.New.Raw)
		}
	}
}

func TestRealDrift(t *testing.T) {
	t.Parallel()
	p, err := Build(readEvents(t, "refresh-drift.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Summary.Text != "1 to update" || p.Summary.Same != 3 {
		t.Fatalf("summary = %+v", p.Summary)
	}
	if c := p.Steps[0].Changes; len(c) != 1 || c[0].Path != "spec.replicas" || string(c[0].Old.Raw) != "2" || string(c[0].New.Raw) != "5" {
		t.Errorf("changes = %+v", c)
	}
}

func TestRealUpWithoutChanges(t *testing.T) {
	t.Parallel()
	p, err := Build(readEvents(t, "up-unchanged.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Summary.Empty() || p.Summary.Same != 4 || len(p.Steps) > 0 {
		t.Errorf("summary = %+v, steps = %v", p.Summary, p.Steps)
	}
}

func TestRealDigests(t *testing.T) {
	t.Parallel()
	decrypt := passphrase(t, "x")
	digest := func(name string) string {
		got, err := SavedPlanDigest(readFile(t, name), []byte("key"), decrypt)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	effect := EffectDigest(readEvents(t, "preview.jsonl"))
	saved := digest("plan.json")
	tests := map[string]struct {
		preview, plan         string
		effectSame, savedSame bool
	}{
		"another preview of the same program": {"preview-again.jsonl", "plan-again.json", true, true},
		"a changed secret":                    {"preview-new-secret.jsonl", "plan-new-secret.json", true, false},
		"a changed value":                     {"preview-other.jsonl", "plan-other.json", false, false},
	}
	for name, tc := range tests {
		if got := EffectDigest(readEvents(t, tc.preview)) == effect; got != tc.effectSame {
			t.Errorf("%s: the effect digest is the same: %t, want %t", name, got, tc.effectSame)
		}
		if got := digest(tc.plan) == saved; got != tc.savedSame {
			t.Errorf("%s: the saved plan's digest is the same: %t, want %t", name, got, tc.savedSame)
		}
	}
}

func TestRealPlansCompared(t *testing.T) {
	t.Parallel()
	build := func(name string) Plan {
		p, err := Build(readEvents(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	approved := build("preview.jsonl").Steps
	if got := CompareSteps(approved, build("preview-again.jsonl").Steps); got != nil {
		t.Errorf("another preview of the same program differs: %v", got)
	}
	want := []v1alpha1.Difference{{What: "shop-dev/web Deployment", Detail: "spec.replicas: approved 3, now 4"}}
	if d := cmp.Diff(want, CompareSteps(approved, build("preview-other.jsonl").Steps)); d != "" {
		t.Errorf("differences (-want +got):\n%s", d)
	}
}

func TestRealState(t *testing.T) {
	t.Parallel()
	decrypt := passphrase(t, "x")
	fingerprint := func(name string) fingerprints {
		core, strict, err := StateFingerprint(readFile(t, name), []byte("key"), decrypt)
		if err != nil {
			t.Fatal(err)
		}
		return fingerprints{core, strict}
	}
	want := fingerprint("state.json")
	// Both write the whole state anew, with every secret encrypted again.
	for _, name := range []string{"state-after-empty-up.json", "state-after-refresh.json"} {
		if got := fingerprint(name); got != want {
			t.Errorf("%s has another fingerprint", name)
		}
	}
	objects, err := Objects(readFile(t, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Object{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop-dev", Name: "old"},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop-dev", Name: "web-settings"},
		{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop-dev", Name: "web"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "shop-dev", Name: "web-credentials"},
	}, objects); d != "" {
		t.Errorf("objects (-want +got):\n%s", d)
	}
}

func TestRealDryRunConsumers(t *testing.T) {
	t.Parallel()
	got, err := DryRunConsumers(readEvents(t, "preview.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"urn:pulumi:dev::orders::kubernetes:core/v1:ConfigMap::consumer"}, got); d != "" {
		t.Errorf("consumers (-want +got):\n%s", d)
	}
}

// passphrase decrypts as Pulumi's passphrase secrets manager does, with the salt
// of the recorded stack.
func passphrase(t *testing.T, phrase string) Decrypt {
	t.Helper()
	var state struct {
		Deployment struct {
			Providers struct {
				State struct{ Salt string } `json:"state"`
			} `json:"secrets_providers"`
		} `json:"deployment"`
	}
	if err := json.Unmarshal(readFile(t, "state.json"), &state); err != nil {
		t.Fatal(err)
	}
	salt, err := base64.StdEncoding.DecodeString(strings.Split(state.Deployment.Providers.State.Salt, ":")[1])
	if err != nil {
		t.Fatal(err)
	}
	key, err := pbkdf2.Key(sha256.New, phrase, salt, 1_000_000, 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return func(ciphertext string) (string, error) {
		parts := strings.Split(ciphertext, ":")
		if len(parts) != 3 || parts[0] != "v1" {
			return "", fmt.Errorf("ciphertext %q has another form", ciphertext)
		}
		nonce, err := base64.StdEncoding.DecodeString(parts[1])
		if err != nil {
			return "", err
		}
		sealed, err := base64.StdEncoding.DecodeString(parts[2])
		if err != nil {
			return "", err
		}
		plaintext, err := gcm.Open(nil, nonce, sealed, nil)
		return string(plaintext), err
	}
}
