package deploy_test

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

// The policies know Kubernetes' own controllers by name. If one of the names were
// wrong, a namespace with a Review in it could never be deleted.
func TestKubernetesCleansUpRecords(t *testing.T) {
	plane := controlplanetest.Start(t, controlplane.ControllerManager)
	adminConfig, err := plane.AdminConfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := deploy.Install(t.Context(), adminConfig, func(string) {}); err != nil {
		t.Fatal(err)
	}
	controllerConfig, err := plane.UserConfig(deploy.ControllerUser)
	if err != nil {
		t.Fatal(err)
	}
	platform, towpath := client(t, adminConfig), client(t, controllerConfig)

	t.Run("the garbage collector takes a snapshot whose owner is gone", func(t *testing.T) {
		create(t, platform, namespaces, "", `{apiVersion: v1, kind: Namespace, metadata: {name: collected}}`)
		owner := create(t, platform, configMaps, "collected", `{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}`)
		snapshot := parse(t, aSnapshot)
		snapshot.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.GetUID()}})
		if _, err := towpath.Resource(controllerRevisions).Namespace("collected").Create(t.Context(), snapshot, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := platform.Resource(configMaps).Namespace("collected").Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		awaitGone(t, platform, controllerRevisions, "collected", "orders-abc")
	})
	t.Run("a namespace goes with all its records", func(t *testing.T) {
		create(t, platform, namespaces, "", `{apiVersion: v1, kind: Namespace, metadata: {name: emptied}}`)
		create(t, platform, changeRequests, "emptied", aChange)
		create(t, platform, reviews, "emptied", aComment)
		create(t, towpath, runs, "emptied", aRun)
		create(t, towpath, controllerRevisions, "emptied", aSnapshot)
		if err := platform.Resource(namespaces).Delete(t.Context(), "emptied", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		awaitGone(t, platform, namespaces, "", "emptied")
	})
}

func awaitGone(t *testing.T, as dynamic.Interface, kind schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := as.Resource(kind).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		t.Errorf("%s %s is still there: %v", kind.Resource, name, err)
	}
}
