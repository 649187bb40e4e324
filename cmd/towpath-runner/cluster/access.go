package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Access is something that an identity needs to do.
type Access struct {
	Verb       string
	APIVersion string
	Kind       string
	Namespace  string
}

// atOnce bounds the questions under way.
const atOnce = 10

// Denied gives those of the accesses that the identity does not have. Kinds that
// the cluster does not serve are left out: nobody can say.
func (c *Cluster) Denied(ctx context.Context, needed []Access) ([]Access, error) {
	resources, err := c.resources(ctx, needed)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var denied []Access
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, access := range needed {
		resource := resources[access.APIVersion][access.Kind]
		if resource == "" {
			continue
		}
		group.Go(func() error {
			allowed, err := c.allowed(ctx, access, resource)
			if err != nil {
				return err
			}
			if !allowed {
				mu.Lock()
				defer mu.Unlock()
				denied = append(denied, access)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(denied, func(a, b Access) int {
		return strings.Compare(a.Kind+a.Namespace+a.Verb, b.Kind+b.Namespace+b.Verb)
	})
	return denied, nil
}

func (c *Cluster) allowed(ctx context.Context, access Access, resource string) (bool, error) {
	version, err := schema.ParseGroupVersion(access.APIVersion)
	if err != nil {
		return false, fmt.Errorf("read API version %q: %w", access.APIVersion, err)
	}
	question, err := json.Marshal(authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: access.Namespace, Verb: access.Verb, Group: version.Group, Version: version.Version, Resource: resource,
		}},
	})
	if err != nil {
		return false, fmt.Errorf("write an access review: %w", err)
	}
	body, err := c.ask(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", question)
	if err != nil {
		return false, err
	}
	var answer authorizationv1.SelfSubjectAccessReview
	if err := json.Unmarshal(body, &answer); err != nil {
		return false, fmt.Errorf("read an access review: %w", err)
	}
	return answer.Status.Allowed, nil
}

// resources gives the resource of each kind, by API version.
func (c *Cluster) resources(ctx context.Context, needed []Access) (map[string]map[string]string, error) {
	found := map[string]map[string]string{}
	for _, access := range needed {
		found[access.APIVersion] = nil
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for version := range found {
		group.Go(func() error {
			kinds, err := c.kinds(ctx, version)
			mu.Lock()
			defer mu.Unlock()
			found[version] = kinds
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return found, nil
}

func (c *Cluster) kinds(ctx context.Context, version string) (map[string]string, error) {
	path := "/apis/" + version
	if !strings.Contains(version, "/") {
		path = "/api/" + version
	}
	body, err := c.ask(ctx, http.MethodGet, path, nil)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the kinds of %s: %w", version, err)
	}
	kinds := map[string]string{}
	for _, resource := range list.APIResources {
		if !strings.Contains(resource.Name, "/") {
			kinds[resource.Kind] = resource.Name
		}
	}
	return kinds, nil
}
