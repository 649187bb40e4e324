package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// SecretType is the type of Secrets that hold sessions.
	SecretType = "towpath.dev/session"

	sessionLabel      = "towpath.dev/session"
	expiresAnnotation = "towpath.dev/expires"
	sealedKey         = "sealed"
	secretPrefix      = "session-"

	keySecret = "towpath-session-key"
	keyKey    = "key"

	sweepPage = 500
)

// Secrets is a Store of one Secret per session, in the portal's own namespace:
// sessions outlive restarts and are the same for all replicas, and whoever reads
// the Secrets gets neither a session nor a name out of them.
type Secrets struct{ client corev1client.SecretInterface }

// NewSecrets makes a Store of the Secrets of one namespace.
func NewSecrets(client corev1client.SecretInterface) *Secrets {
	return &Secrets{client: client}
}

// Create implements Store.
func (s *Secrets) Create(ctx context.Context, name string, record Record) error {
	if _, err := s.client.Create(ctx, secretOf(name, record), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create a session's Secret: %w", err)
	}
	return nil
}

// Read implements Store.
func (s *Secrets) Read(ctx context.Context, name string) (Record, error) {
	secret, err := s.client.Get(ctx, secretPrefix+name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Record{}, ErrNoSession
	}
	if err != nil {
		return Record{}, fmt.Errorf("read a session's Secret: %w", err)
	}
	return Record{Sealed: secret.Data[sealedKey], Expires: expiryOf(secret.Annotations)}, nil
}

// Update implements Store.
func (s *Secrets) Update(ctx context.Context, name string, record Record) error {
	_, err := s.client.Update(ctx, secretOf(name, record), metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return ErrNoSession
	}
	if err != nil {
		return fmt.Errorf("update a session's Secret: %w", err)
	}
	return nil
}

// Delete implements Store.
func (s *Secrets) Delete(ctx context.Context, name string) error {
	err := s.client.Delete(ctx, secretPrefix+name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete a session's Secret: %w", err)
	}
	return nil
}

// Sweep implements Store.
func (s *Secrets) Sweep(ctx context.Context, now time.Time) error {
	options := metav1.ListOptions{LabelSelector: sessionLabel, Limit: sweepPage}
	for {
		page, err := s.client.List(ctx, options)
		if err != nil {
			return fmt.Errorf("list sessions' Secrets: %w", err)
		}
		for _, secret := range page.Items {
			if err := s.remove(ctx, secret, now); err != nil {
				return err
			}
		}
		if page.Continue == "" {
			return nil
		}
		options.Continue = page.Continue
	}
}

// remove deletes a Secret that has expired, unless it was renewed meanwhile.
func (s *Secrets) remove(ctx context.Context, secret corev1.Secret, now time.Time) error {
	if secret.Type != SecretType || now.Before(expiryOf(secret.Annotations)) {
		return nil
	}
	err := s.client.Delete(ctx, secret.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete the expired Secret %q: %w", secret.Name, err)
	}
	return nil
}

func secretOf(name string, record Record) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:        secretPrefix + name,
			Labels:      map[string]string{sessionLabel: "true"},
			Annotations: map[string]string{expiresAnnotation: record.Expires.UTC().Format(time.RFC3339)},
		},
		Type: SecretType,
		Data: map[string][]byte{sealedKey: record.Sealed},
	}
}

// expiryOf returns when a record may be removed: at once, if it does not say.
func expiryOf(annotations map[string]string) time.Time {
	expires, err := time.Parse(time.RFC3339, annotations[expiresAnnotation])
	if err != nil {
		return time.Time{}
	}
	return expires
}

// SharedKey returns the key that all replicas seal sessions with. The first one
// makes it.
func SharedKey(ctx context.Context, client corev1client.SecretInterface) ([]byte, error) {
	secret, err := client.Get(ctx, keySecret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		key := make([]byte, minKey)
		// crypto/rand.Read never returns an error.
		_, _ = rand.Read(key)
		secret, err = client.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: keySecret},
			Type:       corev1.SecretTypeOpaque,
			Data:       map[string][]byte{keyKey: key},
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			secret, err = client.Get(ctx, keySecret, metav1.GetOptions{})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("get the Secret %q with the key of sessions: %w", keySecret, err)
	}
	if len(secret.Data[keyKey]) < minKey {
		return nil, errors.New("the Secret " + keySecret + " holds no usable key; delete it, and all people sign in again")
	}
	return secret.Data[keyKey], nil
}
