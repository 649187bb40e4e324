package change

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Health is how what was applied is doing.
type Health string

// The healths. Only Healthy lets the next environment go.
const (
	Healthy     Health = "Healthy"
	Progressing Health = "Progressing"
	Degraded    Health = "Degraded"
	Unknown     Health = "Unknown"
)

// HealthChecker judges objects in the cluster.
type HealthChecker interface {
	// Check returns the worst health among objects, and a sentence about the
	// first that is not healthy.
	Check(ctx context.Context, objects []v1alpha1.ObjectReference) (Health, string, error)
}

// KStatus judges objects by the kstatus rules.
type KStatus struct{ Reader client.Reader }

// Check implements HealthChecker.
func (k KStatus) Check(ctx context.Context, objects []v1alpha1.ObjectReference) (Health, string, error) {
	worst, message := Healthy, ""
	for _, ref := range objects {
		health, detail, err := k.one(ctx, ref)
		if err != nil {
			return Unknown, "", err
		}
		if rank(health) > rank(worst) {
			worst, message = health, fmt.Sprintf("%s %s: %s", ref.Kind, name(ref), detail)
		}
	}
	return worst, message, nil
}

func (k KStatus) one(ctx context.Context, ref v1alpha1.ObjectReference) (Health, string, error) {
	var object unstructured.Unstructured
	object.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	err := k.Reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &object)
	switch {
	case apierrors.IsNotFound(err):
		return Degraded, "it is gone from the cluster.", nil
	case meta.IsNoMatchError(err):
		return Degraded, "the cluster no longer knows its kind.", nil
	case apierrors.IsForbidden(err):
		return Unknown, "the controller may not read it, so its health is unknown.", nil
	case err != nil:
		return Unknown, "", fmt.Errorf("read %s %s: %w", ref.Kind, name(ref), err)
	}
	result, err := status.Compute(&object)
	if err != nil {
		return Unknown, "its status cannot be read.", nil //nolint:nilerr // an object that breaks the rules is of unknown health, not a failure of ours
	}
	switch result.Status {
	case status.CurrentStatus:
		return Healthy, "", nil
	case status.InProgressStatus:
		return Progressing, result.Message + ".", nil
	case status.FailedStatus, status.TerminatingStatus, status.NotFoundStatus:
		return Degraded, result.Message + ".", nil
	case status.UnknownStatus:
	}
	return Unknown, "its health is unknown.", nil
}

func rank(h Health) int {
	switch h {
	case Healthy:
		return 0
	case Progressing:
		return 1
	case Unknown:
		return 2
	case Degraded:
		return 3
	}
	return 2
}

func name(ref v1alpha1.ObjectReference) string {
	if ref.Namespace == "" {
		return ref.Name
	}
	return ref.Namespace + "/" + ref.Name
}
