package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// URL returns the address of the API server. It may change from one start to
// the next, when another program has taken the port meanwhile.
func (c *ControlPlane) URL() string {
	return "https://127.0.0.1:" + strconv.Itoa(c.port)
}

// AdminConfig returns a configuration of a member of system:masters, whom RBAC
// refuses nothing.
func (c *ControlPlane) AdminConfig() (*rest.Config, error) {
	return c.UserConfig("towpath-admin", "system:masters")
}

// UserConfig returns a configuration that signs in as the user, a member of the
// groups, by a client certificate.
func (c *ControlPlane) UserConfig(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.pki.clientPair(user, groups)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: c.URL(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.pki.ca.certPEM,
			CertData: pair.certPEM,
			KeyData:  pair.keyPEM,
		},
	}, nil
}

// Kubeconfig returns a kubeconfig that signs in as the user, a member of the
// groups. Write it again at each start: the address may have changed.
func (c *ControlPlane) Kubeconfig(user string, groups ...string) ([]byte, error) {
	config, err := c.UserConfig(user, groups...)
	if err != nil {
		return nil, err
	}
	const cluster = "towpath"
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{cluster: {
			Server:                   config.Host,
			CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{user: {
			ClientCertificateData: config.CertData,
			ClientKeyData:         config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{cluster: {Cluster: cluster, AuthInfo: user}},
		CurrentContext: cluster,
	})
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig of %q: %w", user, err)
	}
	return content, nil
}

// componentKubeconfig writes the kubeconfig of a component and returns its path.
func (c *ControlPlane) componentKubeconfig(component Component, user string, groups ...string) (string, error) {
	content, err := c.Kubeconfig(user, groups...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.config.Dir, "pki", string(component)+".kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("write kubeconfig of %s: %w", component, err)
	}
	return path, nil
}
