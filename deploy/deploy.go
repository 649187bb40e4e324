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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

//go:embed crd/*.yaml rbac/*.yaml admission/*.yaml admission/canary/*.yaml
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
	// PortalServiceAccount is the service account of the portal, in Namespace.
	PortalServiceAccount = "towpath-portal"
	// PortalUser is how the API server knows the portal.
	PortalUser = "system:serviceaccount:" + Namespace + ":" + PortalServiceAccount
	// FieldManager owns the fields that Towpath writes.
	FieldManager = "towpath"
)

// Install puts the kinds, roles and admission policies into the cluster and
// returns once they are in force. It may be repeated; progress is told
// what is being installed.
func Install(ctx context.Context, config *rest.Config, progress func(string)) error {
	applier, err := NewApplier(config)
	if err != nil {
		return err
	}
	progress("kinds")
	kinds, err := applyAll(ctx, applier, "crd", nil)
	if err != nil {
		return err
	}
	if err := awaitEstablished(ctx, applier, kinds); err != nil {
		return err
	}
	progress("roles")
	if _, err := applyAll(ctx, applier, "rbac", nil); err != nil {
		return err
	}
	progress("admission policies")
	policies, err := applyAll(ctx, applier, "admission", nil)
	if err != nil {
		return err
	}
	version := versionOf(policies)
	if _, err := applyAll(ctx, applier, "admission/canary", map[string]string{"${version}": version}); err != nil {
		return err
	}
	if err := awaitEnforced(ctx, applier, version); err != nil {
		return err
	}
	return awaitMutable(ctx, applier)
}

// applyAll applies the built-in manifests in dir and returns what is stored.
func applyAll(ctx context.Context, applier *Applier, dir string, replace map[string]string) ([]*unstructured.Unstructured, error) {
	objects, err := Objects(manifests, dir, replace)
	if err != nil {
		return nil, err
	}
	for i, object := range objects {
		if objects[i], err = applier.Apply(ctx, object); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// versionOf identifies the stored objects. It stays the same when they were
// applied again without a change.
func versionOf(objects []*unstructured.Unstructured) string {
	hash := sha256.New()
	for _, object := range objects {
		fmt.Fprintf(hash, "%s %s\n", object.GetUID(), object.GetResourceVersion())
	}
	return hex.EncodeToString(hash.Sum(nil))
}
