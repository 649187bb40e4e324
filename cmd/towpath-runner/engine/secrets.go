package engine

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
)

// verifier is what the engine encrypts to recognise the passphrase.
const verifier = "pulumi"

// saltBytes is the length of a stack's salt.
const saltBytes = 8

// ErrPassphrase says that the stack's secrets are encrypted with another
// passphrase.
var ErrPassphrase = errors.New("the stack's secrets are encrypted with another passphrase than the one given")

// Secrets encrypts and decrypts as the engine does with the passphrase provider.
type Secrets struct {
	state   string
	crypter config.Crypter
}

// keySource derives a stack's key ahead of need: that takes a quarter of a
// second of one core, and the engine can start meanwhile.
type keySource struct {
	passphrase string
	salt       []byte
	derived    chan config.Crypter
}

// newKeySource begins to derive the key for the salt that a new stack gets. The
// salt is the same whenever it is asked for, so that a stack that was not applied
// yet needs no second derivation; it need not be secret.
func newKeySource(passphrase string, digestKey []byte, stack string) *keySource {
	mac := hmac.New(sha256.New, digestKey)
	mac.Write([]byte("salt of stack " + stack))
	k := &keySource{
		passphrase: passphrase,
		salt:       mac.Sum(nil)[:saltBytes],
		derived:    make(chan config.Crypter, 1),
	}
	go func() { k.derived <- config.NewSymmetricCrypterFromPassphrase(passphrase, k.salt) }()
	return k
}

// secrets gives the Secrets of a stack with this export. A stack's encryption
// state is kept as it is: with another one the engine would derive two keys.
func (k *keySource) secrets(ctx context.Context, export json.RawMessage) (*Secrets, error) {
	state, err := encryptionState(export)
	if err != nil {
		return nil, err
	}
	crypter := <-k.derived
	k.derived <- crypter
	if state == "" {
		check, err := crypter.EncryptValue(ctx, verifier)
		if err != nil {
			return nil, fmt.Errorf("encrypt with the passphrase: %w", err)
		}
		return &Secrets{state: "v1:" + base64.StdEncoding.EncodeToString(k.salt) + ":" + check, crypter: crypter}, nil
	}
	salt, check, err := splitState(state)
	if err != nil {
		return nil, err
	}
	if string(salt) != string(k.salt) {
		crypter = config.NewSymmetricCrypterFromPassphrase(k.passphrase, salt)
	}
	if text, err := crypter.DecryptValue(ctx, check); err != nil || text != verifier {
		return nil, ErrPassphrase
	}
	return &Secrets{state: state, crypter: crypter}, nil
}

// encryptionState finds the passphrase provider's state in an export; "" if the
// stack has none yet.
func encryptionState(export json.RawMessage) (string, error) {
	var state struct {
		Deployment struct {
			SecretsProviders struct {
				Type  string `json:"type"`
				State struct {
					Salt string `json:"salt"`
				} `json:"state"`
			} `json:"secrets_providers"`
		} `json:"deployment"`
	}
	if len(export) == 0 {
		return "", nil
	}
	if err := json.Unmarshal(export, &state); err != nil {
		return "", fmt.Errorf("read the stack's state: %w", err)
	}
	provider := state.Deployment.SecretsProviders
	if provider.Type != "" && provider.Type != "passphrase" {
		return "", fmt.Errorf("the stack's secrets provider is %s; only passphrase is supported", provider.Type)
	}
	return provider.State.Salt, nil
}

// splitState takes v1:<salt>:<check> apart; the check has colons of its own.
func splitState(state string) (salt []byte, check string, err error) {
	parts := strings.SplitN(state, ":", 3)
	if len(parts) != 3 || parts[0] != "v1" {
		return nil, "", errors.New("the stack's encryption state is not of a known form")
	}
	salt, err = base64.StdEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, "", fmt.Errorf("read the stack's salt: %w", err)
	}
	return salt, parts[2], nil
}

// State is the encryptionsalt of the stack's config file.
func (s *Secrets) State() string { return s.state }

// Encrypt gives the ciphertext of a config value.
func (s *Secrets) Encrypt(ctx context.Context, plaintext string) (string, error) {
	return s.crypter.EncryptValue(ctx, plaintext)
}

// Decrypt gives the plaintext of a ciphertext from a plan file.
func (s *Secrets) Decrypt(ctx context.Context, ciphertext string) (string, error) {
	return s.crypter.DecryptValue(ctx, ciphertext)
}
