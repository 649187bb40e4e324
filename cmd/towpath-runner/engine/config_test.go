package engine

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"go.yaml.in/yaml/v3"

	"github.com/towpath-dev/towpath/controller/runner"
)

func TestStackFile(t *testing.T) {
	t.Parallel()
	secrets, err := newKeys("a passphrase", []byte("key"), "stack").secrets(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config  map[string]json.RawMessage
		secrets map[string]string
		want    map[string]any
	}{
		"keys without a namespace get the project's": {
			config: map[string]json.RawMessage{"replicas": json.RawMessage(`3`), "kubernetes:namespace": json.RawMessage(`"shop-dev"`)},
			want: map[string]any{
				"orders:replicas": "3", "kubernetes:namespace": "shop-dev",
				"kubernetes:kubeClientSettings": map[string]any{"burst": 4000, "qps": 2000},
			},
		},
		"scalars are text, objects and lists are structure": {
			config: map[string]json.RawMessage{
				"on": json.RawMessage(`true`), "big": json.RawMessage(`12345678901234567890`),
				"list": json.RawMessage(`[1, "a"]`), "none": json.RawMessage(`null`),
				"kubernetes:kubeClientSettings": json.RawMessage(`{"qps": 1}`),
			},
			want: map[string]any{
				"orders:on": "true", "orders:big": "12345678901234567890", "orders:list": []any{1, "a"}, "orders:none": "",
				"kubernetes:kubeClientSettings": map[string]any{"qps": 1},
			},
		},
		"secrets are encrypted": {
			config:  map[string]json.RawMessage{"kubernetes:kubeClientSettings": json.RawMessage(`{}`)},
			secrets: map[string]string{"password": "hunter2"},
			want: map[string]any{
				"orders:password": map[string]any{"secure": "hunter2"}, "kubernetes:kubeClientSettings": map[string]any{},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &runner.Job{ProjectName: "orders", Config: test.config, Secrets: test.secrets}
			file, err := StackFile(t.Context(), job, secrets)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range test.secrets {
				if strings.Contains(string(file), secret) {
					t.Errorf("the file has %q in the clear", secret)
				}
			}
			var got struct {
				Salt   string         `yaml:"encryptionsalt"`
				Config map[string]any `yaml:"config"`
			}
			if err := yaml.Unmarshal(file, &got); err != nil {
				t.Fatal(err)
			}
			if got.Salt != secrets.State() {
				t.Errorf("encryptionsalt is %q, want %q", got.Salt, secrets.State())
			}
			if diff := cmp.Diff(test.want, decrypted(t, secrets, got.Config)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// decrypted replaces ciphertexts, which differ from time to time.
func decrypted(t *testing.T, secrets *Secrets, values map[string]any) map[string]any {
	t.Helper()
	for _, value := range values {
		secure, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if ciphertext, ok := secure["secure"].(string); ok {
			plaintext, err := secrets.Decrypt(t.Context(), ciphertext)
			if err != nil {
				t.Fatal(err)
			}
			secure["secure"] = plaintext
		}
	}
	return values
}

func TestStackFileRefuses(t *testing.T) {
	t.Parallel()
	secrets, err := newKeys("a passphrase", []byte("key"), "stack").secrets(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		job  runner.Job
		want string
	}{
		"a key with two colons": {
			runner.Job{Config: map[string]json.RawMessage{"a:b:c": json.RawMessage(`1`)}}, `config key "a:b:c"`,
		},
		"an empty key": {
			runner.Job{Config: map[string]json.RawMessage{"": json.RawMessage(`1`)}}, `config key ""`,
		},
		"a value that is no JSON": {
			runner.Job{Config: map[string]json.RawMessage{"a": json.RawMessage(`{`)}}, "config a: read JSON",
		},
		"a key that is plain and secret": {
			runner.Job{Config: map[string]json.RawMessage{"a": json.RawMessage(`1`)}, Secrets: map[string]string{"orders:a": "x"}},
			"both as plain and as secret",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.job.ProjectName = "orders"
			_, err := StackFile(t.Context(), &test.job, secrets)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", err, test.want)
			}
		})
	}
}

func TestSecretsKeepTheStacksOwnState(t *testing.T) {
	t.Parallel()
	salt := []byte("12345678")
	crypter := config.NewSymmetricCrypterFromPassphrase("right", salt)
	check, err := crypter.EncryptValue(t.Context(), verifier)
	if err != nil {
		t.Fatal(err)
	}
	ciphertext, err := crypter.EncryptValue(t.Context(), `"hunter2"`)
	if err != nil {
		t.Fatal(err)
	}
	state := "v1:MTIzNDU2Nzg=:" + check
	export := json.RawMessage(`{"deployment":{"secrets_providers":{"type":"passphrase","state":{"salt":"` + state + `"}}}}`)

	found, err := encryptionState(export)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := newKeys("right", []byte("key"), "stack").secrets(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	if secrets.State() != state {
		t.Errorf("the state is %q, want %q", secrets.State(), state)
	}
	if got, err := secrets.Decrypt(t.Context(), ciphertext); err != nil || got != `"hunter2"` {
		t.Errorf("got %q and %v", got, err)
	}
	wrong, err := newKeys("wrong", []byte("key"), "stack").secrets(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.Encrypt(t.Context(), "x"); !errors.Is(err, ErrPassphrase) {
		t.Errorf("got %v, want %v", err, ErrPassphrase)
	}
}
