package compose

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Sealer keeps secret values that were typed between the steps of the form, in
// the form itself, so that no page shows them and no server keeps them.
type Sealer struct{ aead cipher.AEAD }

// NewSealer makes a Sealer of a key that all replicas share.
func NewSealer(key []byte) (*Sealer, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, "towpath compose", 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of the form: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("use the key of the form: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("use the key of the form: %w", err)
	}
	return &Sealer{aead}, nil
}

// Seal hides a value. It opens only for the same person, draft and field.
func (s *Sealer) Seal(person, draft, field, value string) string {
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, []byte(value), about(person, draft, field)))
}

// Open returns a value that Seal hid.
func (s *Sealer) Open(person, draft, field, sealed string) (string, bool) {
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	value, err := s.aead.Open(nil, nil, text, about(person, draft, field))
	return string(value), err == nil
}

func about(person, draft, field string) []byte {
	return fmt.Appendf(nil, "%q %q %q", person, draft, field)
}
