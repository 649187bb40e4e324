package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// sealer puts keyed digests in the place of secrets: who holds the digest but
// not the key learns nothing, and yet a changed secret shows.
type sealer struct {
	key     []byte
	decrypt Decrypt
	names   *strings.Replacer
}

func newSealer(key []byte, decrypt Decrypt, names *strings.Replacer) (*sealer, error) {
	if len(key) == 0 {
		return nil, errors.New("no key to digest secrets with")
	}
	return &sealer{key: key, decrypt: decrypt, names: names}, nil
}

// seal returns a value with secrets sealed and made-up texts replaced. Errors
// never hold a plaintext.
func (s *sealer) seal(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return s.names.Replace(v), nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			sealed, err := s.seal(item)
			if err != nil {
				return nil, err
			}
			out[i] = sealed
		}
		return out, nil
	case map[string]any:
		if v[signatureKey] == secretSignature {
			return s.sealSecret(v)
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			sealed, err := s.seal(item)
			if err != nil {
				return nil, err
			}
			out[key] = sealed
		}
		return out, nil
	}
	return v, nil
}

func (s *sealer) sealSecret(secret map[string]any) (any, error) {
	plaintext, ok := secret["plaintext"].(string)
	if !ok {
		ciphertext, ok := secret["ciphertext"].(string)
		if !ok {
			return nil, errors.New("a secret has no ciphertext")
		}
		if s.decrypt == nil {
			return nil, errors.New("a secret cannot be read without the secrets manager")
		}
		var err error
		if plaintext, err = s.decrypt(ciphertext); err != nil {
			return nil, fmt.Errorf("decrypt a secret: %w", err)
		}
	}
	var v any
	if err := decodeJSON([]byte(plaintext), &v); err != nil {
		// The decoder's own message would quote what it read.
		return nil, errors.New("a decrypted secret is not JSON")
	}
	// A secret may hold further secrets, each with a nonce of its own.
	inner, err := s.seal(v)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write(encode(inner))
	return map[string]any{signatureKey: secretSignature, "hmac": hex.EncodeToString(mac.Sum(nil))}, nil
}
