package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/e2e/portal"
	"github.com/towpath-dev/towpath/internal/controlplane"
)

// writers bounds how many copies are made at once.
const writers = 16

// copied are the kinds that a service consists of, each before those that refer
// to it. Reviews are left out: admission would write another reviewer into them.
var copied = []string{"Program", "Stack", "ChangeRequest", "Run"}

// copyService copies all objects of the example under other names, and returns
// the names of the changes.
func copyService(ctx context.Context, plane *controlplane.ControlPlane, copies int) ([]string, error) {
	// The controller's name passes the policies that keep its testimony safe.
	config, err := plane.UserConfig(deploy.ControllerUser, "system:masters")
	if err != nil {
		return nil, err
	}
	c, err := portal.Connect(config)
	if err != nil {
		return nil, err
	}
	originals, err := readService(ctx, c)
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range copies {
		group.Go(func() error { return writeCopy(ctx, c, originals, nameOf(n)) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var names []string
	for _, original := range originals {
		if original.GetKind() == "ChangeRequest" {
			for n := range copies {
				names = append(names, strings.ReplaceAll(original.GetName(), service, nameOf(n)))
			}
		}
	}
	return names, nil
}

func nameOf(n int) string { return fmt.Sprintf("%s%04d", service, n) }

func readService(ctx context.Context, c client.Client) ([]unstructured.Unstructured, error) {
	groups := map[string]string{"Program": pulumiv1.GroupVersion.String(), "Stack": pulumiv1.GroupVersion.String()}
	var all []unstructured.Unstructured
	for _, kind := range copied {
		var list unstructured.UnstructuredList
		version, ok := groups[kind]
		if !ok {
			version = v1alpha1.GroupVersion.String()
		}
		list.SetAPIVersion(version)
		list.SetKind(kind + "List")
		if err := c.List(ctx, &list, client.InNamespace(team)); err != nil {
			return nil, fmt.Errorf("read the %ss of the example: %w", kind, err)
		}
		if len(list.Items) == 0 {
			return nil, fmt.Errorf("the example has left no %s", kind)
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// writeCopy writes the objects of a service under another name, with their status.
func writeCopy(ctx context.Context, c client.Client, originals []unstructured.Unstructured, name string) error {
	for _, original := range originals {
		text, err := json.Marshal(original.Object)
		if err != nil {
			return err
		}
		var object unstructured.Unstructured
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), service, name)), &object.Object); err != nil {
			return err
		}
		status, labels := object.Object["status"], object.GetLabels()
		object.Object["metadata"] = map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
		object.SetLabels(labels)
		object.SetFinalizers(nil)
		object.SetOwnerReferences([]metav1.OwnerReference(nil))
		delete(object.Object, "status")
		if err := c.Create(ctx, &object); err != nil {
			return fmt.Errorf("copy %s %q: %w", object.GetKind(), object.GetName(), err)
		}
		if status == nil {
			continue
		}
		object.Object["status"] = status
		if err := c.Status().Update(ctx, &object); err != nil {
			return fmt.Errorf("copy the status of %s %q: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
