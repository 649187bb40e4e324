package deploy

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
			return fmt.Errorf("wait until kind %q is established: %w", definition.GetName(), err)
		}
		if err := a.awaitDiscovered(ctx, definition); err != nil {
			return err
		}
	}
	return nil
}

// awaitDiscovered waits until the API server lists the kind, which is a little
// later than it serves it.
func (a *Applier) awaitDiscovered(ctx context.Context, definition *unstructured.Unstructured) error {
	group, _, err := unstructured.NestedString(definition.Object, "spec", "group")
	if err != nil {
		return fmt.Errorf("read the group of %q: %w", definition.GetName(), err)
	}
	name, _, err := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	if err != nil {
		return fmt.Errorf("read the kind of %q: %w", definition.GetName(), err)
	}
	kind := schema.GroupKind{Group: group, Kind: name}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, pollTimeout, true, func(context.Context) (bool, error) {
		_, err := a.kinds.RESTMapping(kind)
		if meta.IsNoMatchError(err) {
			a.kinds.Reset()
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait until kind %s is listed: %w", kind, err)
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
	canary := probe("v1", "ConfigMap", nil)
	enforced := fmt.Sprintf("mutating=%s validating=%s", version, version)
	err := a.dryRunUntil(ctx, canary, func(err error) (bool, error) {
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

// awaitMutable waits until the API server can mutate our kinds: it looks for new
// schemas every five seconds only, and refuses their objects until then.
func awaitMutable(ctx context.Context, a *Applier) error {
	for _, object := range []*unstructured.Unstructured{
		probe("pulumi.com/v1", "Program", nil),
		probe("towpath.dev/v1alpha1", "ChangeRequest", map[string]any{
			"service":      "canary",
			"program":      map[string]any{},
			"environments": []any{map[string]any{"name": "canary"}},
		}),
	} {
		err := a.dryRunUntil(ctx, object, func(err error) (bool, error) {
			if apierrors.IsServiceUnavailable(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("wait until kind %s can be written: %w", object.GetKind(), err)
		}
	}
	return nil
}

// probe is an object that is only ever created as a dry run.
func probe(apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(Namespace)
	object.SetName("towpath-policy-canary")
	if spec != nil {
		object.Object["spec"] = spec
	}
	return object
}

// dryRunUntil dry-runs the object's creation until done says so of the answer.
func (a *Applier) dryRunUntil(ctx context.Context, object *unstructured.Unstructured, done func(error) (bool, error)) error {
	client, err := a.client(object)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, pollInterval, pollTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return done(err)
	})
}
