package deploy

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Applier writes objects of any kind.
type Applier struct {
	objects dynamic.Interface
	kinds   meta.ResettableRESTMapper
}

// NewApplier returns an Applier that writes as config says.
func NewApplier(config *rest.Config) (*Applier, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	return &Applier{
		objects: objects,
		kinds:   restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds)),
	}, nil
}

// Apply makes the object what it is given as: fields that Towpath once set and
// that are no longer there go, fields of others stay. It returns what is stored.
func (a *Applier) Apply(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := a.client(object)
	if err != nil {
		return nil, err
	}
	applied, err := client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", describe(object), err)
	}
	return applied, nil
}

// CreateMissing creates the object if there is none of its name, and leaves one
// that is there as it is. It reports whether it created it.
func (a *Applier) CreateMissing(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	client, err := a.client(object)
	if err != nil {
		return false, err
	}
	_, err = client.Create(ctx, object, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("create %s: %w", describe(object), err)
	}
	return true, nil
}

// Get reads the object that has the kind and name of the given one.
func (a *Applier) Get(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := a.client(object)
	if err != nil {
		return nil, err
	}
	found, err := client.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", describe(object), err)
	}
	return found, nil
}

func (a *Applier) client(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := a.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("find kind %s: %w", kind, err)
	}
	resource := a.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return resource.Namespace(object.GetNamespace()), nil
	}
	return resource, nil
}

func describe(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return fmt.Sprintf("%s %q", object.GetKind(), object.GetName())
	}
	return fmt.Sprintf("%s %q in namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
}
