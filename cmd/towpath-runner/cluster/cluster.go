// Package cluster asks a Kubernetes cluster whether it is there and which it is.
// The provider takes an unreachable cluster for an empty one and previews
// without a word, so this must be known first. It changes nothing.
package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is a cluster as one identity sees it.
type Cluster struct {
	// Host is the server's address, for people.
	Host string
	// Tokens are the credentials in the kubeconfig.
	Tokens []string

	server string
	client *http.Client
}

// patience bounds each question.
const patience = 10 * time.Second

// Open reads a kubeconfig.
func Open(kubeconfig string) (*Cluster, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig))
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.Timeout = patience
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	server, err := url.Parse(config.Host)
	if err != nil || server.Host == "" {
		return nil, fmt.Errorf("read the kubeconfig: the server %q is no URL", config.Host)
	}
	c := &Cluster{Host: server.Host, server: strings.TrimSuffix(config.Host, "/"), client: client}
	for _, credential := range []string{config.BearerToken, config.Password, string(config.KeyData)} {
		if credential != "" {
			c.Tokens = append(c.Tokens, credential)
		}
	}
	return c, nil
}

// UnreachableError says that a cluster does not answer.
type UnreachableError struct {
	Host   string
	Reason string
	Err    error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the cluster at %s cannot be reached: %s", e.Host, e.Reason)
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// DeniedError says that a cluster refuses the identity.
type DeniedError struct {
	Host    string
	Message string
}

// Error implements error.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("the cluster at %s refuses the identity: %s", e.Host, e.Message)
}

// Identity is a digest that no other cluster has: of the server's address and of
// the UID of the namespace kube-system, which lives as long as the cluster.
func (c *Cluster) Identity(ctx context.Context) (string, error) {
	if _, err := c.ask(ctx, http.MethodGet, "/version", nil); err != nil {
		return "", err
	}
	body, err := c.ask(ctx, http.MethodGet, "/api/v1/namespaces/kube-system", nil)
	if err != nil {
		return "", err
	}
	var namespace struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(body, &namespace); err != nil || namespace.Metadata.UID == "" {
		return "", fmt.Errorf("the server at %s does not answer as a Kubernetes cluster does", c.Host)
	}
	sum := sha256.Sum256([]byte(c.server + "\n" + namespace.Metadata.UID))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// notFoundError says that a server does not have what was asked for.
type notFoundError struct{ message string }

// Error implements error.
func (e *notFoundError) Error() string { return e.message }

func isNotFound(err error) bool {
	var notFound *notFoundError
	return errors.As(err, &notFound)
}

// largest bounds an answer.
const largest = 1 << 20

func (c *Cluster) ask(ctx context.Context, method, path string, question []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(question))
	if err != nil {
		return nil, fmt.Errorf("ask the cluster at %s: %w", c.Host, err)
	}
	if question != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, &UnreachableError{Host: c.Host, Reason: reason(err), Err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, largest))
	if err != nil {
		return nil, &UnreachableError{Host: c.Host, Reason: reason(err), Err: err}
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, &DeniedError{Host: c.Host, Message: message(body, resp.Status)}
	case resp.StatusCode == http.StatusNotFound:
		return nil, &notFoundError{message(body, resp.Status)}
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		text := message(body, resp.Status)
		return nil, &UnreachableError{Host: c.Host, Reason: text, Err: errors.New(text)}
	}
	return body, nil
}

// message is what an API server says in a Status.
func message(body []byte, status string) string {
	var s struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &s) == nil && s.Message != "" {
		return s.Message
	}
	return "it answers " + status
}

// reason is a network error in words.
func reason(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses connections"
	case errors.As(err, &dns):
		return "its name is not known"
	case errors.Is(err, context.Canceled):
		return "the question was interrupted"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		return "it does not answer"
	case strings.Contains(err.Error(), "x509: ") || strings.Contains(err.Error(), "tls: "):
		return "its certificate is not trusted"
	}
	return "the connection breaks"
}
