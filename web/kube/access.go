package kube

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
	authorizationv1 "k8s.io/api/authorization/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/fault"
)

const (
	// decisionAge is how long an answer about a right is believed. A right that is
	// taken away is gone from the pages within this time; writes are judged at once.
	decisionAge = 5 * time.Second
	// decisionRenewal is the age at which an answer that is still of use is asked for
	// again, so that nobody who goes from page to page waits for it.
	decisionRenewal = decisionAge / 2
	// askPatience is how long a question about a right may take: a page that cannot
	// be answered should say so while people still look at it.
	askPatience = 5 * time.Second
	// decisions bounds the memory for such answers.
	decisions = 20_000
	// questionsAtOnce bounds what one page asks the API server at once.
	questionsAtOnce = 8
)

// Action is something that RBAC can allow. An empty Namespace means all of them,
// an empty Name any.
type Action struct {
	Verb, Group, Resource, Namespace, Name string
}

// access asks the API server what people may do, and remembers for a moment.
type access struct {
	client client.Client
	known  *utilcache.LRUExpireCache
	// asking holds the questions on their way: many readers of one page ask once.
	asking singleflight.Group
}

func newAccess(c client.Client) *access {
	return &access{client: c, known: utilcache.NewLRUExpireCache(decisions)}
}

// decision is the key of a remembered answer. The person is a digest of name and
// groups: somebody else's answer, or one from before a group was left, never fits.
type decision struct {
	person [sha256.Size]byte
	action Action
}

// String tells decisions apart. No part of an action can contain a zero byte.
func (d decision) String() string {
	return strings.Join([]string{string(d.person[:]), d.action.Verb, d.action.Group, d.action.Resource, d.action.Namespace, d.action.Name}, "\x00")
}

func (u User) digest() [sha256.Size]byte {
	h := sha256.New()
	write := func(s string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	write(u.Username)
	groups := slices.Clone(u.Groups)
	slices.Sort(groups)
	for _, group := range groups {
		write(group)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// check refuses those whom the portal never acts for: nobody, and the names that
// Kubernetes keeps for itself. An empty name would act as the portal.
func (u User) check() error {
	reserved := func(name string) bool {
		name = strings.ToLower(strings.TrimSpace(name))
		return name == "" || strings.HasPrefix(name, "system:")
	}
	if reserved(u.Username) || slices.ContainsFunc(u.Groups, reserved) {
		return fault.New(fault.Forbidden, nil, "Nobody can use the portal under this name or with these groups.")
	}
	return nil
}

// Allowed reports whether a person may do something.
func (c *Cluster) Allowed(ctx context.Context, user User, action Action) (bool, error) {
	return c.access.allowed(ctx, user, action)
}

// allowed asks for all names first: whoever may do something to all may do it to
// one, and that answer serves for every page.
func (a *access) allowed(ctx context.Context, user User, action Action) (bool, error) {
	if action.Name != "" {
		all := action
		all.Name = ""
		if may, err := a.decide(ctx, user, all); may || err != nil {
			return may, err
		}
	}
	return a.decide(ctx, user, action)
}

func (a *access) decide(ctx context.Context, user User, action Action) (bool, error) {
	if err := user.check(); err != nil {
		return false, err
	}
	key := decision{person: user.digest(), action: action}
	if known, ok := a.known.Get(key); ok {
		known := known.(answer)
		if time.Since(known.asked) >= decisionRenewal {
			a.ask(ctx, key, user)
		}
		return known.allowed, nil
	}
	select {
	case result := <-a.ask(ctx, key, user):
		if result.Err != nil {
			return false, fault.New(fault.Unavailable, result.Err, "The cluster cannot be asked what you may see. Try again in a moment.")
		}
		return result.Val.(bool), nil
	case <-ctx.Done():
		return false, fmt.Errorf("ask whether %q may %s %s: %w", user.Username, action.Verb, action.Resource, ctx.Err())
	}
}

// answer is what the API server said of a right, and when it was asked.
type answer struct {
	allowed bool
	asked   time.Time
}

// ask asks the API server and remembers the answer. The question outlives the
// reader who asked it: others may wait for the same answer.
func (a *access) ask(ctx context.Context, key decision, user User) <-chan singleflight.Result {
	action := key.action
	return a.asking.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askPatience)
		defer cancel()
		asked := time.Now()
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username,
			// Everybody who signs in is a member of it; a review takes groups literally.
			Groups: append(slices.Clone(user.Groups), "system:authenticated"),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: action.Verb, Group: action.Group, Resource: action.Resource,
				Namespace: action.Namespace, Name: action.Name,
			},
		}}
		if err := a.client.Create(ctx, review); err != nil {
			return false, fmt.Errorf("ask whether %q may %s %s: %w", user.Username, action.Verb, action.Resource, err)
		}
		a.known.Add(key, answer{review.Status.Allowed, asked}, decisionAge)
		return review.Status.Allowed, nil
	})
}

// allowedIn returns those of the namespaces in which a person may do something.
func (a *access) allowedIn(ctx context.Context, user User, action Action, namespaces []string) (map[string]bool, error) {
	action.Namespace = ""
	everywhere, err := a.allowed(ctx, user, action)
	if err != nil {
		return nil, err
	}
	answers := make([]bool, len(namespaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(questionsAtOnce)
	for i, namespace := range namespaces {
		if everywhere {
			answers[i] = true
			continue
		}
		group.Go(func() error {
			here := action
			here.Namespace = namespace
			allowed, err := a.allowed(ctx, user, here)
			answers[i] = allowed
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	in := make(map[string]bool, len(namespaces))
	for i, namespace := range namespaces {
		in[namespace] = answers[i]
	}
	return in, nil
}

// readable keeps those of the items that a person may list.
func readable[T client.Object](ctx context.Context, c *Cluster, user User, group, resource string, items []T) ([]T, error) {
	var namespaces []string
	seen := map[string]bool{}
	for _, item := range items {
		if name := item.GetNamespace(); !seen[name] {
			seen[name] = true
			namespaces = append(namespaces, name)
		}
	}
	in, err := c.access.allowedIn(ctx, user, Action{Verb: "list", Group: group, Resource: resource}, namespaces)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items, func(item T) bool { return !in[item.GetNamespace()] }), nil
}

// MayReview reports whether a person may approve or reject plans for an
// environment in a team's namespace.
func (c *Cluster) MayReview(ctx context.Context, user User, namespace, environment string) (bool, error) {
	return c.access.allowed(ctx, user, Action{Verb: "review", Group: v1alpha1.GroupVersion.Group, Resource: "environments", Namespace: namespace, Name: environment})
}

// MayComment reports whether a person may comment on changes of a team.
func (c *Cluster) MayComment(ctx context.Context, user User, namespace string) (bool, error) {
	return c.access.allowed(ctx, user, Action{Verb: "create", Group: v1alpha1.GroupVersion.Group, Resource: "reviews", Namespace: namespace})
}

// MayPropose reports whether a person may propose changes for a team.
func (c *Cluster) MayPropose(ctx context.Context, user User, namespace string) (bool, error) {
	return c.access.allowed(ctx, user, Action{Verb: "create", Group: v1alpha1.GroupVersion.Group, Resource: "changerequests", Namespace: namespace})
}

// MayWithdraw reports whether a person may take a change back: their own, or with
// the verb withdraw anybody's.
func (c *Cluster) MayWithdraw(ctx context.Context, user User, cr *v1alpha1.ChangeRequest) (bool, error) {
	action := Action{Verb: "patch", Group: v1alpha1.GroupVersion.Group, Resource: "changerequests", Namespace: cr.Namespace, Name: cr.Name}
	may, err := c.access.allowed(ctx, user, action)
	if err != nil || !may || cr.Spec.Author.Username == user.Username {
		return may, err
	}
	action.Verb = "withdraw"
	return c.access.allowed(ctx, user, action)
}
