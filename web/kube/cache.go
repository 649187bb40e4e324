package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// The names of the cache's indexes.
const (
	byChange   = "towpath-change"
	byService  = "towpath-service"
	byReviewer = "towpath-reviewer"
)

// watched are the kinds that the cache holds; it refuses to begin with others.
func watched() []client.Object {
	return []client.Object{
		&v1alpha1.ChangeRequest{}, &v1alpha1.Review{}, &v1alpha1.Run{},
		&v1alpha1.Environment{}, &v1alpha1.GoldenPath{}, &v1alpha1.GoldenPathVersion{},
		&pulumiv1.Program{}, &pulumiv1.Stack{}, &corev1.Namespace{},
	}
}

// newCache makes a cache of what lists and summaries show. The bulk of a change or
// a Program is read live by the one page that needs it; plans are kept in packed as
// they pass by.
func newCache(config *rest.Config, options cache.Options, packed *packedRuns) (cache.Cache, error) {
	shared := true
	options.DefaultUnsafeDisableDeepCopy = &shared
	options.ReaderFailOnMissingInformer = true
	options.DefaultTransform = func(object any) (any, error) {
		if run, ok := object.(*v1alpha1.Run); ok {
			_ = packed.keep(run) // what is not kept is read when it is wanted
		}
		return slim(object), nil
	}
	c, err := cache.New(config, options)
	if err != nil {
		return nil, fmt.Errorf("set up the cache: %w", err)
	}
	return c, nil
}

// slim takes out of an object what no list shows.
func slim(object any) any {
	o, ok := object.(client.Object)
	if !ok {
		return object
	}
	o.SetManagedFields(nil)
	delete(o.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	switch o := o.(type) {
	case *v1alpha1.Run:
		status := &o.Status
		status.Plan, status.Log, status.Objects, status.Inputs = nil, nil, nil, nil
		if o.Spec.Operation == v1alpha1.Preview {
			status.Outputs = nil
		}
		o.Spec.Stack, o.Spec.Inputs, o.Spec.Approved, o.Spec.GoldenPaths = pulumiv1.StackSpec{}, nil, nil, nil
	case *v1alpha1.ChangeRequest:
		o.Spec.Program = pulumiv1.ProgramSpec{}
		for i := range o.Status.Stacks {
			if plan := o.Status.Stacks[i].Plan; plan != nil {
				plan.Inputs = nil
			}
		}
	case *pulumiv1.Program:
		for name, resource := range o.Program.Resources {
			o.Program.Resources[name] = pulumiv1.Resource{Type: resource.Type}
		}
		o.Program.Variables, o.Program.Outputs = nil, nil
	case *v1alpha1.GoldenPathVersion:
		o.Spec.Component = ""
	case *corev1.Namespace:
		o.Spec, o.Status = corev1.NamespaceSpec{}, corev1.NamespaceStatus{Phase: o.Status.Phase}
	}
	return o
}

// watch indexes the cache and passes its events on to those who wait for them.
func (c *Cluster) watch(ctx context.Context) error {
	indexes := []struct {
		object client.Object
		name   string
		value  func(client.Object) string
	}{
		{&v1alpha1.Review{}, byChange, func(o client.Object) string { return o.(*v1alpha1.Review).Spec.ChangeRequest }},
		{&v1alpha1.Review{}, byReviewer, func(o client.Object) string { return o.(*v1alpha1.Review).Spec.Reviewer.Username }},
		{&v1alpha1.Run{}, byChange, func(o client.Object) string { return o.(*v1alpha1.Run).Spec.ChangeRequest }},
		{&v1alpha1.Run{}, byService, func(o client.Object) string { return o.(*v1alpha1.Run).Spec.Service }},
		{&v1alpha1.ChangeRequest{}, byService, func(o client.Object) string { return o.(*v1alpha1.ChangeRequest).Spec.Service }},
		{&pulumiv1.Stack{}, byService, func(o client.Object) string { return ServiceOf(o.(*pulumiv1.Stack)) }},
	}
	for _, index := range indexes {
		value := index.value
		if err := c.cached.IndexField(ctx, index.object, index.name, func(o client.Object) []string { return []string{value(o)} }); err != nil {
			return fmt.Errorf("index %T by %s: %w", index.object, index.name, err)
		}
	}
	for _, object := range watched() {
		informer, err := c.cached.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { c.updates.publish(o) },
			UpdateFunc: func(_, o any) { c.updates.publish(o) },
			DeleteFunc: func(o any) { c.updates.publish(o) },
		}); err != nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
	}
	return nil
}

// everything returns all objects of a kind as the cache holds them: shared, not to
// be changed, in no order. A List would copy each of thousands for every page.
func everything[T any, P interface {
	*T
	client.Object
}](ctx context.Context, c *Cluster) ([]P, error) {
	informer, err := c.cached.GetInformer(ctx, P(new(T)))
	if err != nil {
		return nil, fmt.Errorf("list every %T: %w", *new(T), err)
	}
	indexed, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("list every %T: the cache of it cannot be read as a whole", *new(T))
	}
	objects := indexed.GetIndexer().List()
	all := make([]P, 0, len(objects))
	for _, object := range objects {
		if o, ok := object.(P); ok {
			all = append(all, o)
		}
	}
	return all, nil
}

// pointers are the items of a list, each where it lies.
func pointers[T any](items []T) []*T {
	list := make([]*T, 0, len(items))
	for i := range items {
		list = append(list, &items[i])
	}
	return list
}

// ServiceOf is the name of the service that a Stack belongs to.
func ServiceOf(stack *pulumiv1.Stack) string {
	if ref := stack.Spec.ProgramRef; ref != nil {
		return ref.Name
	}
	if service := stack.Labels[v1alpha1.ServiceLabel]; service != "" {
		return service
	}
	return stack.Name
}

// EnvironmentOf is the name of the environment that a Stack is in.
func EnvironmentOf(stack *pulumiv1.Stack) string {
	if environment := stack.Labels[v1alpha1.EnvironmentLabel]; environment != "" {
		return environment
	}
	return v1alpha1.DefaultEnvironment
}
