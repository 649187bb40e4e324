package portal

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/towpath-dev/towpath/controller"
)

// Admin signs in as a cluster administrator, which is whoever can read the key of
// the portal's certificate authority.
func (p *Portal) Admin() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig("platform"))
	if err != nil {
		return nil, err
	}
	config.CertData, config.KeyData, err = p.certify("e2e-admin", "system:masters")
	return config, err
}

// Connect makes a client that knows all kinds. It asks as fast as it can: the default
// is meant for a shared cluster.
func Connect(config *rest.Config) (client.Client, error) {
	scheme, err := controller.Scheme()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return client.New(config, client.Options{Scheme: scheme})
}

// AdminKubeconfig writes a kubeconfig of the administrator and returns its path.
func (p *Portal) AdminKubeconfig() (string, error) {
	config, err := clientcmd.LoadFromFile(p.Kubeconfig("platform"))
	if err != nil {
		return "", err
	}
	info := clientcmdapi.NewAuthInfo()
	if info.ClientCertificateData, info.ClientKeyData, err = p.certify("e2e-admin", "system:masters"); err != nil {
		return "", err
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = info
	}
	file, err := os.CreateTemp(filepath.Dir(p.Dir), "admin-*.kubeconfig")
	if err != nil {
		return "", err
	}
	return file.Name(), errors.Join(file.Close(), clientcmd.WriteToFile(*config, file.Name()))
}

func (p *Portal) certify(user, group string) (cert, key []byte, err error) {
	pki := filepath.Join(p.Dir, "controlplane", "pki")
	ca, err := block(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, nil, err
	}
	caKey, err := block(filepath.Join(pki, "ca.key"))
	if err != nil {
		return nil, nil, err
	}
	parent, err := x509.ParseCertificate(ca)
	if err != nil {
		return nil, nil, err
	}
	signer, err := x509.ParseECPrivateKey(caKey)
	if err != nil {
		return nil, nil, err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: user, Organization: []string{group}},
		NotBefore:    time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, own.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	ownDER, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: ownDER}), nil
}

func block(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoded, _ := pem.Decode(text)
	if decoded == nil {
		return nil, fmt.Errorf("%s holds no PEM block", path)
	}
	return decoded.Bytes, nil
}
