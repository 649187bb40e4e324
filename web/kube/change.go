package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// Change is a change with what belongs to it, without the Program that it proposes.
type Change struct {
	v1alpha1.ChangeRequest
	// Runs are those that its environments name now, by name: previews with their
	// plans, those that move or went wrong with their logs. A run that the person may
	// not see is not there.
	Runs    map[string]*v1alpha1.Run
	Reviews []*v1alpha1.Review // the oldest first
}

// Change reads a change with its runs and reviews.
func (c *Cluster) Change(ctx context.Context, user User, namespace, name string) (*Change, error) {
	change := &Change{Runs: map[string]*v1alpha1.Run{}}
	if err := c.glance(ctx, user, "change", v1alpha1.GroupVersion.Group, "changerequests", namespace, name, &change.ChangeRequest); err != nil {
		return nil, err
	}
	if err := c.readRuns(ctx, user, change); err != nil {
		return nil, err
	}
	var reviews v1alpha1.ReviewList
	if err := c.cached.List(ctx, &reviews, client.InNamespace(namespace), client.MatchingFields{byChange: name}); err != nil {
		return nil, fmt.Errorf("list the reviews of change %q: %w", name, err)
	}
	visible, err := readable(ctx, c, user, v1alpha1.GroupVersion.Group, "reviews", pointers(reviews.Items))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(visible, func(a, b *v1alpha1.Review) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	change.Reviews = visible
	return change, nil
}

// readRuns reads the runs of a change at once: they do not depend on each other.
func (c *Cluster) readRuns(ctx context.Context, user User, change *Change) error {
	may, err := c.access.allowed(ctx, user, Action{Verb: "get", Group: v1alpha1.GroupVersion.Group, Resource: "runs", Namespace: change.Namespace})
	if err != nil || !may {
		return err
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(questionsAtOnce)
	for _, stack := range change.Status.Stacks {
		for _, name := range []string{stack.Preview, stack.Apply} {
			if name == "" {
				continue
			}
			group.Go(func() error {
				run, err := c.runs.read(ctx, client.ObjectKey{Namespace: change.Namespace, Name: name})
				if apierrors.IsNotFound(err) {
					return nil
				}
				if err != nil {
					return explain(err, "read run "+name, "run", change.Namespace, name)
				}
				mu.Lock()
				defer mu.Unlock()
				change.Runs[name] = run
				return nil
			})
		}
	}
	return group.Wait()
}
