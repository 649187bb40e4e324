package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const validity = 10 * 365 * 24 * time.Hour

// pki is the control plane's certificate authority and what it has signed. Its
// files are made again when they are missing, cut off, expired or do not belong
// together: all that trusts them is written anew at each start anyway.
type pki struct {
	folder string
	ca     *authority
}

// authority signs certificates.
type authority struct {
	cert    *x509.Certificate
	key     crypto.Signer
	certPEM []byte
}

// keyPair is a certificate and its private key, encoded.
type keyPair struct {
	certPEM, keyPEM []byte
}

func loadPKI(folder string) (*pki, error) {
	p := &pki{folder: folder}
	var err error
	if p.ca, err = loadAuthority(p.path("ca.crt"), p.path("ca.key")); err != nil {
		return nil, err
	}
	if err := p.writeServerPair(); err != nil {
		return nil, err
	}
	return p, p.ensureServiceAccountKey()
}

func (p *pki) path(name string) string { return filepath.Join(p.folder, name) }

func loadAuthority(certPath, keyPath string) (*authority, error) {
	if ca := readAuthority(certPath, keyPath); ca != nil {
		return ca, nil
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "towpath"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	certPEM, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if err := replaceFile(keyPath, keyPEM); err != nil {
		return nil, err
	}
	if err := replaceFile(certPath, certPEM); err != nil {
		return nil, err
	}
	if ca := readAuthority(certPath, keyPath); ca != nil {
		return ca, nil
	}
	return nil, fmt.Errorf("read back the certificate authority from %s", certPath)
}

// readAuthority returns the authority in the files, or nil if they hold none
// that is still good.
func readAuthority(certPath, keyPath string) *authority {
	certPEM, certErr := os.ReadFile(certPath)
	keyPEM, keyErr := os.ReadFile(keyPath)
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certErr != nil || keyErr != nil || certBlock == nil || keyBlock == nil {
		return nil
	}
	cert, certErr := x509.ParseCertificate(certBlock.Bytes)
	key, keyErr := x509.ParseECPrivateKey(keyBlock.Bytes)
	if certErr != nil || keyErr != nil || !key.PublicKey.Equal(cert.PublicKey) {
		return nil
	}
	const margin = 30 * 24 * time.Hour
	if time.Now().Add(margin).After(cert.NotAfter) {
		return nil
	}
	return &authority{cert: cert, key: key, certPEM: certPEM}
}

// writeServerPair writes the API server's own pair, a new one at each start.
func (p *pki) writeServerPair() error {
	pair, err := p.ca.pair(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	if err != nil {
		return err
	}
	if err := replaceFile(p.path("apiserver.key"), pair.keyPEM); err != nil {
		return err
	}
	return replaceFile(p.path("apiserver.crt"), pair.certPEM)
}

// ensureServiceAccountKey keeps the key that signs service account tokens, so
// that tokens given out stay good over a restart.
func (p *pki) ensureServiceAccountKey() error {
	path := p.path("service-accounts.key")
	content, err := os.ReadFile(path)
	if block, _ := pem.Decode(content); err == nil && block != nil {
		if _, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return nil
		}
	}
	_, keyPEM, err := newKey()
	if err != nil {
		return err
	}
	return replaceFile(path, keyPEM)
}

// clientPair returns a new client certificate for a user in groups.
func (p *pki) clientPair(user string, groups []string) (keyPair, error) {
	return p.ca.pair(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) pair(template *x509.Certificate) (keyPair, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return keyPair{}, err
	}
	certPEM, err := sign(template, a.cert, key.Public(), a.key)
	return keyPair{certPEM: certPEM, keyPEM: keyPEM}, err
}

// sign completes the template and signs it.
func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("choose a serial number: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(validity)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of %q: %w", template.Subject.CommonName, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode a key: %w", err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
