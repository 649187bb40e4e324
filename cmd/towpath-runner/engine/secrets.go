package engine

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

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
// It derives its key when first asked to: that takes a quarter of a second of one
// core, and a stack without secrets never needs it.
type Secrets struct {
	state   string
	crypter func() (config.Crypter, error)
}

// keys derives keys from a passphrase.
type keys struct {
	passphrase string
	// salt is what a new stack gets. It is the same whenever it is asked for, so
	// that a key derived ahead is the right one; it need not be secret.
	salt []byte
	own  func() config.Crypter
}

func newKeys(passphrase string, digestKey []byte, stack string) *keys {
	mac := hmac.New(sha256.New, digestKey)
	mac.Write([]byte("salt of stack " + stack))
	salt := mac.Sum(nil)[:saltBytes]
	return &keys{
		passphrase: passphrase,
		salt:       salt,
		own:        sync.OnceValue(func() config.Crypter { return config.NewSymmetricCrypterFromPassphrase(passphrase, salt) }),
	}
}

// ahead derives the key while the engine starts.
func (k *keys) ahead() { go k.own() }

// secrets gives the Secrets of a stack with this encryption state, "" for a new
// stack. What a stack has is kept: with another one the engine would derive two
// keys.
func (k *keys) secrets(ctx context.Context, state string) (*Secrets, error) {
	if state == "" {
		check, err := k.own().EncryptValue(ctx, verifier)
		if err != nil {
			return nil, fmt.Errorf("encrypt with the passphrase: %w", err)
		}
		state = "v1:" + base64.StdEncoding.EncodeToString(k.salt) + ":" + check
	}
	salt, check, err := splitState(state)
	if err != nil {
		return nil, err
	}
	return &Secrets{state: state, crypter: sync.OnceValues(func() (config.Crypter, error) {
		crypter := k.own
		if !bytes.Equal(salt, k.salt) {
			crypter = func() config.Crypter { return config.NewSymmetricCrypterFromPassphrase(k.passphrase, salt) }
		}
		c := crypter()
		if text, err := c.DecryptValue(ctx, check); err != nil || text != verifier {
			return nil, ErrPassphrase
		}
		return c, nil
	})}, nil
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
	crypter, err := s.crypter()
	if err != nil {
		return "", err
	}
	return crypter.EncryptValue(ctx, plaintext)
}

// Decrypt gives the plaintext of a ciphertext from a state or a plan.
func (s *Secrets) Decrypt(ctx context.Context, ciphertext string) (string, error) {
	crypter, err := s.crypter()
	if err != nil {
		return "", err
	}
	return crypter.DecryptValue(ctx, ciphertext)
}
