package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Service is a Program and its Stacks. Program is nil when only Stacks are there,
// and holds no more than packages and types in lists.
type Service struct {
	Namespace, Name string
	Program         *pulumiv1.Program
	Stacks          []*pulumiv1.Stack
}

// Services returns the services that a person may see, sorted by name.
func (c *Cluster) Services(ctx context.Context, user User) ([]Service, error) {
	programs, err := everything[pulumiv1.Program](ctx, c)
	if err != nil {
		return nil, err
	}
	stacks, err := everything[pulumiv1.Stack](ctx, c)
	if err != nil {
		return nil, err
	}
	if programs, err = readable(ctx, c, user, pulumiv1.GroupVersion.Group, "programs", programs); err != nil {
		return nil, err
	}
	if stacks, err = readable(ctx, c, user, pulumiv1.GroupVersion.Group, "stacks", stacks); err != nil {
		return nil, err
	}
	return services(programs, stacks), nil
}

func services(programs []*pulumiv1.Program, stacks []*pulumiv1.Stack) []Service {
	type key struct{ namespace, name string }
	at := make(map[key]int, len(programs))
	all := make([]Service, 0, len(programs))
	find := func(namespace, name string) *Service {
		k := key{namespace, name}
		i, ok := at[k]
		if !ok {
			i = len(all)
			at[k] = i
			all = append(all, Service{Namespace: namespace, Name: name})
		}
		return &all[i]
	}
	for _, program := range programs {
		find(program.Namespace, program.Name).Program = program
	}
	for _, stack := range stacks {
		service := find(stack.Namespace, ServiceOf(stack))
		service.Stacks = append(service.Stacks, stack)
	}
	slices.SortFunc(all, func(a, b Service) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace))
	})
	return all
}

// ServiceHistory is a service with its changes and applies, the newest first.
type ServiceHistory struct {
	Service
	Changes []*v1alpha1.ChangeRequest
	// Applies are the runs that changed something, without plans and logs.
	Applies []*v1alpha1.Run
}

// Service reads a service, its Program whole, with its history.
func (c *Cluster) Service(ctx context.Context, user User, namespace, name string) (*ServiceHistory, error) {
	inside := []client.ListOption{client.InNamespace(namespace), client.MatchingFields{byService: name}}
	history := &ServiceHistory{Service: Service{Namespace: namespace, Name: name}}
	program, err := c.Program(ctx, user, namespace, name)
	if err == nil {
		history.Program = program
	} else if !isNotFound(err) {
		return nil, err
	}
	if history.Stacks, err = c.Stacks(ctx, user, namespace, name); err != nil {
		return nil, err
	}
	var changes v1alpha1.ChangeRequestList
	if err := c.cached.List(ctx, &changes, inside...); err != nil {
		return nil, fmt.Errorf("list the changes of %q: %w", name, err)
	}
	history.Changes, err = readable(ctx, c, user, v1alpha1.GroupVersion.Group, "changerequests", pointers(changes.Items))
	if err != nil {
		return nil, err
	}
	if history.Program == nil && len(history.Stacks) == 0 && len(history.Changes) == 0 {
		return nil, notFound("service", namespace, name)
	}
	slices.SortFunc(history.Changes, newestFirst)
	return history, c.readApplies(ctx, user, history, inside)
}

// Stacks returns the Stacks of a service that a person may see.
func (c *Cluster) Stacks(ctx context.Context, user User, namespace, service string) ([]*pulumiv1.Stack, error) {
	var stacks pulumiv1.StackList
	if err := c.cached.List(ctx, &stacks, client.InNamespace(namespace), client.MatchingFields{byService: service}); err != nil {
		return nil, fmt.Errorf("list the stacks of %q: %w", service, err)
	}
	return readable(ctx, c, user, pulumiv1.GroupVersion.Group, "stacks", pointers(stacks.Items))
}

func (c *Cluster) readApplies(ctx context.Context, user User, history *ServiceHistory, inside []client.ListOption) error {
	var runs v1alpha1.RunList
	if err := c.cached.List(ctx, &runs, inside...); err != nil {
		return fmt.Errorf("list the runs of %q: %w", history.Name, err)
	}
	visible, err := readable(ctx, c, user, v1alpha1.GroupVersion.Group, "runs", pointers(runs.Items))
	if err != nil {
		return err
	}
	history.Applies = slices.DeleteFunc(visible, func(r *v1alpha1.Run) bool { return r.Spec.Operation == v1alpha1.Preview })
	slices.SortFunc(history.Applies, func(a, b *v1alpha1.Run) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return nil
}
