package change

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// world is everything that the steps decide on, read once per look.
type world struct {
	cr           *v1alpha1.ChangeRequest
	environments map[string]v1alpha1.Environment
	catalogue    program.Catalogue
	program      *pulumiv1.Program // nil when the service is new
	stacks       map[string]*pulumiv1.Stack
	runs         map[string]*v1alpha1.Run
	reviews      []v1alpha1.Review
	siblings     []v1alpha1.ChangeRequest // other changes of the same service
}

func (r *Reconciler) read(ctx context.Context, cr *v1alpha1.ChangeRequest) (*world, error) {
	w := &world{cr: cr, environments: map[string]v1alpha1.Environment{}, stacks: map[string]*pulumiv1.Stack{}, runs: map[string]*v1alpha1.Run{}}
	var (
		environments v1alpha1.EnvironmentList
		versions     v1alpha1.GoldenPathVersionList
		stacks       pulumiv1.StackList
		runs         v1alpha1.RunList
		reviews      v1alpha1.ReviewList
		changes      v1alpha1.ChangeRequestList
		existing     pulumiv1.Program
	)
	here := client.InNamespace(cr.Namespace)
	mine := client.MatchingLabels{v1alpha1.ChangeRequestLabel: cr.Name}
	for _, list := range []struct {
		of      client.ObjectList
		options []client.ListOption
	}{
		{&environments, nil},
		{&versions, nil},
		{&stacks, []client.ListOption{here}},
		{&runs, []client.ListOption{here, mine}},
		{&reviews, []client.ListOption{here}},
		{&changes, []client.ListOption{here}},
	} {
		if err := r.Live.List(ctx, list.of, list.options...); err != nil {
			return nil, fmt.Errorf("list %T: %w", list.of, err)
		}
	}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: cr.Namespace, Name: cr.Spec.Service}, &existing)
	switch {
	case err == nil:
		w.program = &existing
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("read program %q: %w", cr.Spec.Service, err)
	}
	for _, environment := range environments.Items {
		w.environments[environment.Name] = environment
	}
	w.catalogue = program.NewCatalogue(versions.Items)
	for i := range stacks.Items {
		w.stacks[stacks.Items[i].Name] = &stacks.Items[i]
	}
	for i := range runs.Items {
		w.runs[runs.Items[i].Name] = &runs.Items[i]
	}
	for _, review := range reviews.Items {
		if review.Spec.ChangeRequest == cr.Name {
			w.reviews = append(w.reviews, review)
		}
	}
	for _, other := range changes.Items {
		if other.Spec.Service == cr.Spec.Service && other.Name != cr.Name {
			w.siblings = append(w.siblings, other)
		}
	}
	return w, nil
}

// newer reports whether a was proposed after b.
func newer(a, b *v1alpha1.ChangeRequest) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return a.Name > b.Name
}

// proposal returns what the change proposes for an environment.
func (w *world) proposal(environment string) v1alpha1.EnvironmentProposal {
	for _, p := range w.cr.Spec.Environments {
		if string(p.Name) == environment {
			return p
		}
	}
	return v1alpha1.EnvironmentProposal{}
}

// change returns the state of an environment in this change, nil if it has none.
func (w *world) change(environment string) *v1alpha1.StackChange {
	for i := range w.cr.Status.Stacks {
		if w.cr.Status.Stacks[i].Environment == environment {
			return &w.cr.Status.Stacks[i]
		}
	}
	return nil
}
