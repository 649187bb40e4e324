package kube

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/internal/fault"
)

// as returns a client that acts in a person's name.
func (c *Cluster) as(user User) (client.Client, error) {
	if err := user.check(); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user.Username, Groups: user.Groups}
	k, err := client.New(config, client.Options{Scheme: c.live.Scheme(), Mapper: c.live.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("act in the name of %q: %w", user.Username, err)
	}
	return k, nil
}

// Propose stores Secrets and then the change that refers to them, as the person,
// and gives the change its name. A Secret that exists is kept as it is: its name is
// made of its content, so it is the same.
func (c *Cluster) Propose(ctx context.Context, user User, cr *v1alpha1.ChangeRequest, secrets []corev1.Secret) error {
	k, err := c.as(user)
	if err != nil {
		return err
	}
	if err := c.name(ctx, cr); err != nil {
		return err
	}
	for i := range secrets {
		secret := secrets[i].DeepCopy()
		if err := k.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
			return explain(err, "store a secret value in "+secret.Namespace, "Secret", secret.Namespace, secret.Name)
		}
	}
	if err := k.Create(ctx, cr); err != nil {
		return explain(err, "propose a change in "+cr.Namespace, "change", cr.Namespace, cr.Name)
	}
	c.await(ctx, cr, func() bool { return cr.Status.Phase != "" })
	return nil
}

// Review writes what a person says of a plan, and waits a moment for the gate's
// word on it.
func (c *Cluster) Review(ctx context.Context, user User, change *v1alpha1.ChangeRequest, spec v1alpha1.ReviewSpec) (*v1alpha1.Review, error) {
	k, err := c.as(user)
	if err != nil {
		return nil, err
	}
	review := &v1alpha1.Review{
		ObjectMeta: metav1.ObjectMeta{Namespace: change.Namespace, GenerateName: fmt.Sprintf("%s-%s-", change.Name, spec.Environment)},
		Spec:       spec,
	}
	if err := k.Create(ctx, review); err != nil {
		doing := strings.ToLower(string(spec.Decision)) + " this plan"
		if spec.Decision == v1alpha1.Comment {
			doing = "comment on this change"
		}
		return nil, explain(err, doing, "change", change.Namespace, change.Name)
	}
	c.await(ctx, review, func() bool { return review.Status.Counts != nil })
	return review, nil
}

// Withdraw takes a change back as the person.
func (c *Cluster) Withdraw(ctx context.Context, user User, namespace, name string) error {
	k, err := c.as(user)
	if err != nil {
		return err
	}
	cr := &v1alpha1.ChangeRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"withdrawn":true}}`))
	if err := k.Patch(ctx, cr, patch); err != nil {
		return explain(err, "withdraw this change", "change", namespace, name)
	}
	c.await(ctx, cr, func() bool { return cr.Status.Phase.Done() })
	return nil
}

const (
	// patience is how long an answer to a form waits for the controller, so that the
	// next page shows what came of it. Without that word the page says so itself.
	patience = 3 * time.Second
	glance   = 50 * time.Millisecond
)

// await reads an object from the cache until it is as hoped, for a moment. It
// reads what pages read: they then show at least this state.
func (c *Cluster) await(ctx context.Context, object client.Object, done func() bool) {
	key := client.ObjectKeyFromObject(object)
	err := wait.PollUntilContextTimeout(ctx, glance, patience, true, func(ctx context.Context) (bool, error) {
		if err := c.cached.Get(ctx, key, object); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		return done(), nil
	})
	if err != nil && !wait.Interrupted(err) {
		c.log.WarnContext(ctx, "wait for the controller", "object", key, "err", err)
	}
}

// name gives a proposal a name made of its content, as the command line does: the
// same content proposed twice meets itself.
func (c *Cluster) name(ctx context.Context, cr *v1alpha1.ChangeRequest) error {
	var changes v1alpha1.ChangeRequestList
	if err := c.cached.List(ctx, &changes, client.InNamespace(cr.Namespace), client.MatchingFields{byService: cr.Spec.Service}); err != nil {
		return fmt.Errorf("list the changes of %q: %w", cr.Spec.Service, err)
	}
	name, twin := program.ProposalName(cr.Spec, changes.Items)
	if twin != nil {
		return fault.New(fault.Conflict, nil, "The same change is open already as %s; nothing was proposed.", twin.Name)
	}
	cr.Name = name
	return nil
}
