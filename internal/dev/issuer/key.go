package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	keyFile = "issuer-key.pem"
	pemType = "PRIVATE KEY"
)

// signingKey signs ID tokens.
type signingKey struct {
	id  string
	key *ecdsa.PrivateKey
}

var _ op.SigningKey = signingKey{}

func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.ES256 }
func (k signingKey) Key() any                                    { return k.key }
func (k signingKey) ID() string                                  { return k.id }

// publicKey is what others check signatures with.
type publicKey struct{ of signingKey }

var _ op.Key = publicKey{}

func (k publicKey) ID() string                         { return k.of.id }
func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.ES256 }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Key() any                           { return &k.of.key.PublicKey }

// loadKey returns the key of the last start, or a new one. A file that was cut
// off holds none; all that is lost with it is who was signed in here.
func loadKey(dir string) (signingKey, error) {
	path := filepath.Join(dir, keyFile)
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return signingKey{}, fmt.Errorf("read the issuer's key: %w", err)
	}
	if key, ok := parseKey(content); ok {
		return key, nil
	}
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return signingKey{}, fmt.Errorf("make the issuer's key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(made)
	if err != nil {
		return signingKey{}, fmt.Errorf("encode the issuer's key: %w", err)
	}
	// Whole or not at all, also when the power goes.
	if err := os.WriteFile(path+".new", pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), 0o600); err != nil {
		return signingKey{}, fmt.Errorf("keep the issuer's key: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return signingKey{}, fmt.Errorf("keep the issuer's key: %w", err)
	}
	return named(made, der), nil
}

func parseKey(content []byte) (signingKey, bool) {
	block, _ := pem.Decode(content)
	if block == nil {
		return signingKey{}, false
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return signingKey{}, false
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return signingKey{}, false
	}
	return named(key, block.Bytes), true
}

// named gives a key an identifier that changes with it and tells nothing of it.
func named(key *ecdsa.PrivateKey, der []byte) signingKey {
	sum := sha256.Sum256(der)
	return signingKey{id: hex.EncodeToString(sum[:8]), key: key}
}
