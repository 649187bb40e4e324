package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Changes returns the changes that a person may see, the newest first, without
// the Programs that they propose.
func (c *Cluster) Changes(ctx context.Context, user User) ([]*v1alpha1.ChangeRequest, error) {
	all, err := everything[v1alpha1.ChangeRequest](ctx, c)
	if err != nil {
		return nil, err
	}
	changes, err := readable(ctx, c, user, v1alpha1.GroupVersion.Group, "changerequests", all)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(changes, newestFirst)
	return changes, nil
}

func newestFirst(a, b *v1alpha1.ChangeRequest) int {
	return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// ReviewsBy returns the reviews that a person has written and may see.
func (c *Cluster) ReviewsBy(ctx context.Context, user User) ([]*v1alpha1.Review, error) {
	var list v1alpha1.ReviewList
	if err := c.cached.List(ctx, &list, client.MatchingFields{byReviewer: user.Username}); err != nil {
		return nil, fmt.Errorf("list the reviews of %q: %w", user.Username, err)
	}
	return readable(ctx, c, user, v1alpha1.GroupVersion.Group, "reviews", pointers(list.Items))
}

// Proposal reads a change whole, with the Program that it proposes.
func (c *Cluster) Proposal(ctx context.Context, user User, namespace, name string) (*v1alpha1.ChangeRequest, error) {
	var cr v1alpha1.ChangeRequest
	if err := c.read(ctx, user, "change", v1alpha1.GroupVersion.Group, "changerequests", namespace, name, &cr); err != nil {
		return nil, err
	}
	return &cr, nil
}

// Environments returns all environments in the order in which changes pass them.
func (c *Cluster) Environments(ctx context.Context, user User) ([]v1alpha1.Environment, error) {
	may, err := c.access.allowed(ctx, user, Action{Verb: "list", Group: v1alpha1.GroupVersion.Group, Resource: "environments"})
	if err != nil || !may {
		return nil, err
	}
	var list v1alpha1.EnvironmentList
	if err := c.cached.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list environments: %w", err)
	}
	return inOrder(list.Items), nil
}

// inOrder sorts environments so that each comes after those it waits for, and the
// default, which is no stage, last.
func inOrder(environments []v1alpha1.Environment) []v1alpha1.Environment {
	after := map[string][]v1alpha1.EnvironmentName{}
	for _, environment := range environments {
		after[environment.Name] = environment.Spec.After
	}
	var depth func(name string, below int) int
	depth = func(name string, below int) int {
		deepest := 0
		if below == len(environments) {
			return deepest // a circle: there is no order to find
		}
		for _, first := range after[name] {
			deepest = max(deepest, depth(string(first), below+1)+1)
		}
		return deepest
	}
	rank := map[string]int{}
	for name := range after {
		rank[name] = depth(name, 0)
	}
	rank[v1alpha1.DefaultEnvironment] = len(environments) + 1
	slices.SortFunc(environments, func(a, b v1alpha1.Environment) int {
		if order := rank[a.Name] - rank[b.Name]; order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	return environments
}

// GoldenPaths returns the catalogue, without the components themselves.
func (c *Cluster) GoldenPaths(ctx context.Context, user User) ([]v1alpha1.GoldenPath, []v1alpha1.GoldenPathVersion, error) {
	may, err := c.access.allowed(ctx, user, Action{Verb: "list", Group: v1alpha1.GroupVersion.Group, Resource: "goldenpaths"})
	if err != nil || !may {
		return nil, nil, err
	}
	var paths v1alpha1.GoldenPathList
	if err := c.cached.List(ctx, &paths); err != nil {
		return nil, nil, fmt.Errorf("list golden paths: %w", err)
	}
	var versions v1alpha1.GoldenPathVersionList
	if err := c.cached.List(ctx, &versions); err != nil {
		return nil, nil, fmt.Errorf("list golden path versions: %w", err)
	}
	slices.SortFunc(paths.Items, func(a, b v1alpha1.GoldenPath) int { return strings.Compare(a.Name, b.Name) })
	return paths.Items, versions.Items, nil
}

// Teams returns the namespaces in which a person may propose changes.
func (c *Cluster) Teams(ctx context.Context, user User) ([]string, error) {
	var list corev1.NamespaceList
	if err := c.cached.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	var names []string
	for _, namespace := range list.Items {
		if namespace.Status.Phase != corev1.NamespaceTerminating && !strings.HasPrefix(namespace.Name, "kube-") {
			names = append(names, namespace.Name)
		}
	}
	in, err := c.access.allowedIn(ctx, user, Action{Verb: "create", Group: v1alpha1.GroupVersion.Group, Resource: "changerequests"}, names)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !in[name] })
	slices.Sort(names)
	return names, nil
}

// Program reads a Program whole.
func (c *Cluster) Program(ctx context.Context, user User, namespace, name string) (*pulumiv1.Program, error) {
	var program pulumiv1.Program
	if err := c.read(ctx, user, "service", pulumiv1.GroupVersion.Group, "programs", namespace, name, &program); err != nil {
		return nil, err
	}
	return &program, nil
}

// Run reads a run whole, with its plan and log.
func (c *Cluster) Run(ctx context.Context, user User, namespace, name string) (*v1alpha1.Run, error) {
	var run v1alpha1.Run
	if err := c.read(ctx, user, "run", v1alpha1.GroupVersion.Group, "runs", namespace, name, &run); err != nil {
		return nil, err
	}
	return &run, nil
}

// glance reads one object as the cache has it if the person may get it. Only what
// the cache does not know yet is read live.
func (c *Cluster) glance(ctx context.Context, user User, what, group, resource, namespace, name string, into client.Object) error {
	if err := c.permit(ctx, user, what, group, resource, namespace, name); err != nil {
		return err
	}
	err := c.cached.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	if apierrors.IsNotFound(err) {
		return c.readLive(ctx, what, namespace, name, into)
	}
	if err != nil {
		return explain(err, "read "+what+" "+name, what, namespace, name)
	}
	return nil
}

// read reads one object live if the person may get it.
func (c *Cluster) read(ctx context.Context, user User, what, group, resource, namespace, name string, into client.Object) error {
	if err := c.permit(ctx, user, what, group, resource, namespace, name); err != nil {
		return err
	}
	return c.readLive(ctx, what, namespace, name, into)
}

// permit refuses what a person may not get, as if it were not there.
func (c *Cluster) permit(ctx context.Context, user User, what, group, resource, namespace, name string) error {
	may, err := c.access.allowed(ctx, user, Action{Verb: "get", Group: group, Resource: resource, Namespace: namespace, Name: name})
	if err == nil && !may {
		return notFound(what, namespace, name)
	}
	return err
}

// readPatience is how long one object may take to be read.
const readPatience = 10 * time.Second

func (c *Cluster) readLive(ctx context.Context, what, namespace, name string, into client.Object) error {
	reading, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	if err := c.live.Get(reading, client.ObjectKey{Namespace: namespace, Name: name}, into); err != nil {
		return explain(err, "read "+what+" "+name, what, namespace, name)
	}
	return nil
}
