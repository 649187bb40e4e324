package deploy

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	pollInterval = 100 * time.Millisecond
	// The API server takes up policies within a few seconds of its own start.
	pollTimeout = 60 * time.Second
)

// awaitEstablished waits until the API server serves the kinds.
func awaitEstablished(ctx context.Context, a *Applier, definitions []*unstructured.Unstructured) error {
	for _, definition := range definitions {
		err := wait.PollUntilContextTimeout(ctx, pollInterval, pollTimeout, true, func(ctx context.Context) (bool, error) {
			found, err := a.Get(ctx, definition)
			if err != nil {
				return false, err
			}
			return established(found), nil
		})
		if err != nil {
			return fmt.Errorf("wait until kind %q is served: %w", definition.GetName(), err)
		}
	}
	return nil
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, condition := range conditions {
		fields, ok := condition.(map[string]any)
		if ok && fields["type"] == "Established" {
			return fields["status"] == "True"
		}
	}
	return false
}

// awaitEnforced waits until the API server acts on the canary policies of this
// version. It takes up policies in the order they were written, and those were
// the last.
func awaitEnforced(ctx context.Context, a *Applier, version string) error {
	client := a.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(Namespace)
	canary := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": "towpath-policy-canary"},
	}}
	enforced := fmt.Sprintf("mutating=%s validating=%s", version, version)
	err := wait.PollUntilContextTimeout(ctx, pollInterval, pollTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.Create(ctx, canary, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case err == nil: // no policy looked at it yet
			return false, nil
		case strings.Contains(err.Error(), enforced):
			return true, nil
		case apierrors.IsInvalid(err), apierrors.IsForbidden(err): // an older policy, or half of the new ones
			return false, nil
		default:
			return false, err
		}
	})
	if err != nil {
		return fmt.Errorf("wait until the admission policies are in force: %w", err)
	}
	return nil
}
