// Package deploy holds what Towpath needs in a cluster (kinds, roles, admission
// policies) and puts it there. It knows no team and no environment: those are
// the platform's to write.
package deploy

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

//go:embed crd/*.yaml rbac/*.yaml admission/*.yaml
var manifests embed.FS

const (
	// Namespace is where Towpath itself lives.
	Namespace = "towpath-system"
	// ControllerServiceAccount is the service account of the controller, in
	// Namespace.
	ControllerServiceAccount = "towpath-controller"
	// ControllerUser is how the API server knows the controller; the admission
	// policies trust it by this name.
	ControllerUser = "system:serviceaccount:" + Namespace + ":" + ControllerServiceAccount
	// FieldManager owns the fields that Towpath writes.
	FieldManager = "towpath"
	// LastEditorAnnotation names who last changed the content of a Program or
	// Stack. Admission writes it.
	LastEditorAnnotation = "towpath.dev/last-editor"
)

// digestMark stands in the manifests for the digest of all of them.
const digestMark = "${digest}"

// Install puts the kinds, roles and admission policies into the cluster and
// returns once they are in force. It may be repeated; progress gets a short
// phrase for each step.
func Install(ctx context.Context, config *rest.Config, progress func(string)) error {
	digest, err := manifestDigest()
	if err != nil {
		return err
	}
	applier, err := NewApplier(config)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		doing, dir string
		wait       func(context.Context, *Applier, []*unstructured.Unstructured) error
	}{
		{"kinds", "crd", awaitEstablished},
		{"roles", "rbac", nil},
		{"admission policies", "admission", func(ctx context.Context, a *Applier, _ []*unstructured.Unstructured) error {
			return awaitEnforced(ctx, a, digest)
		}},
	} {
		progress("installing " + step.doing)
		objects, err := Objects(manifests, step.dir, map[string]string{digestMark: digest})
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := applier.Apply(ctx, object); err != nil {
				return err
			}
		}
		if step.wait == nil {
			continue
		}
		if err := step.wait(ctx, applier, objects); err != nil {
			return err
		}
	}
	return nil
}

// manifestDigest identifies this version of the manifests.
func manifestDigest() (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(manifests, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := manifests.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(hash, "%s %d\n%s", path, len(text), text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the built-in manifests: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
