package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const sealKeyLength = 32

// sealer encrypts values so that they can be read, or made, only with its key
// and the identifier they were sealed under, and for one purpose.
type sealer struct {
	key     []byte
	purpose string
}

func (s sealer) seal(id string, value any) ([]byte, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode a value to seal: %w", err)
	}
	aead, err := s.cipher(id)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, content, nil), nil
}

func (s sealer) open(id string, sealed []byte, value any) error {
	aead, err := s.cipher(id)
	if err != nil {
		return err
	}
	content, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return errors.New("the seal is broken")
	}
	if err := json.Unmarshal(content, value); err != nil {
		return fmt.Errorf("decode a sealed value: %w", err)
	}
	return nil
}

func (s sealer) cipher(id string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, s.key, []byte(id), s.purpose, sealKeyLength)
	if err != nil {
		return nil, fmt.Errorf("derive a key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use a key: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sign makes of an identifier what verify returns it from. Identifiers that were
// not made here are so known without asking anybody.
func (s sealer) sign(id string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(s.purpose + "\n" + id))
	return id + "." + hex.EncodeToString(mac.Sum(nil))
}

func (s sealer) verify(signed string) (id string, ok bool) {
	id, _, _ = strings.Cut(signed, ".")
	return id, hmac.Equal([]byte(s.sign(id)), []byte(signed))
}

// digest names a secret identifier without telling it.
func digest(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}
