package web

import (
	"context"
	"slices"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/web/kube"
)

// asked is what a person is asked for.
type asked struct {
	// changes are those that wait for the person, the longest waiting first, as many
	// as the page shows.
	changes   []wanted
	mayReview bool
}

// wanted is a change that waits for a person, and a phrase that says for what.
type wanted struct {
	change *v1alpha1.ChangeRequest
	needs  string
}

// askedOf finds the changes that wait for a person's review: those whose plan the
// gate would count their approval of.
func (s *Server) askedOf(ctx context.Context, user kube.User, newestFirst []*v1alpha1.ChangeRequest, environments []v1alpha1.Environment) (asked, error) {
	var found asked
	r, err := s.reviewer(ctx, user, environments)
	if err != nil {
		return found, err
	}
	for _, cr := range slices.Backward(newestFirst) {
		if cr.Status.Phase.Done() || cr.Spec.Withdrawn {
			continue
		}
		places, err := r.wantedIn(cr)
		if err != nil {
			return found, err
		}
		if len(places) > 0 {
			found.changes = append(found.changes, wanted{cr, "your review of " + enumerate(places)})
		}
		if len(found.changes) == shownAtHome {
			break
		}
	}
	found.mayReview = r.reviews
	return found, nil
}

// reviewer is a person with what decides whether their review is wanted.
type reviewer struct {
	user kube.User
	// may says whether RBAC lets the person review in a place.
	may   func(namespace, environment string) (bool, error)
	rules map[string]v1alpha1.Environment
	// given are the plans that the person has approved.
	given map[approved]bool
	// reviews is true once there was a place where the person may review.
	reviews bool
}

// approved names a plan of a change.
type approved struct{ namespace, change, digest string }

func (s *Server) reviewer(ctx context.Context, user kube.User, environments []v1alpha1.Environment) (*reviewer, error) {
	r := &reviewer{user: user, may: s.rights(ctx, user), rules: rulesOf(environments), given: map[approved]bool{}}
	reviews, err := s.Cluster.ReviewsBy(ctx, user)
	for _, review := range reviews {
		if review.Spec.Decision == v1alpha1.Approve {
			r.given[approved{review.Namespace, review.Spec.ChangeRequest, review.Spec.PlanDigest}] = true
		}
	}
	return r, err
}

// wantedIn are the environments of a change that wait for the person.
func (r *reviewer) wantedIn(cr *v1alpha1.ChangeRequest) ([]string, error) {
	var places []string
	for i := range cr.Status.Stacks {
		sc := &cr.Status.Stacks[i]
		if sc.Phase != v1alpha1.StackInReview || sc.Plan == nil {
			continue
		}
		may, err := r.may(cr.Namespace, sc.Environment)
		if err != nil {
			return nil, err
		}
		if !may {
			continue
		}
		r.reviews = true
		if !r.given[approved{cr.Namespace, cr.Name, sc.Plan.Digest}] && objectionTo(cr, sc, r.rules[sc.Environment], r.user) == "" {
			places = append(places, safe(sc.Environment))
		}
	}
	return places, nil
}

// rights says where a person may review, and asks once for each place.
func (s *Server) rights(ctx context.Context, user kube.User) func(namespace, environment string) (bool, error) {
	type place struct{ namespace, environment string }
	known := map[place]bool{}
	return func(namespace, environment string) (bool, error) {
		at := place{namespace, environment}
		if may, ok := known[at]; ok {
			return may, nil
		}
		may, err := s.Cluster.MayReview(ctx, user, namespace, environment)
		known[at] = may && err == nil
		return may, err
	}
}
