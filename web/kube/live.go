package kube

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/fault"
)

const (
	// watchers bounds how many pages are live at once, in all and of one person.
	watchers       = 2000
	watchersOfUser = 30
)

// Topic is what a page can wait for.
type Topic struct {
	Kind, Namespace, Name string
}

// ChangeTopic has an event when a change, one of its reviews or one of its runs
// moves.
func ChangeTopic(namespace, name string) Topic { return Topic{"change", namespace, name} }

// ServiceTopic has an event when a service's Program, Stacks, changes or runs move.
func ServiceTopic(namespace, name string) Topic { return Topic{"service", namespace, name} }

// AnyTopic has an event when any change, review or Stack moves.
func AnyTopic() Topic { return Topic{Kind: "any"} }

// RunTopic has an event when a run moves.
func RunTopic(namespace, name string) Topic { return Topic{"run", namespace, name} }

// updates passes events of the cache on to the pages that wait for them.
type updates struct {
	mu     sync.Mutex
	topics map[Topic]map[*subscription]bool
	total  int
	byUser map[string]int
}

// subscription is one page that waits. Its channel holds one signal: a reader
// that is slow looks once for many events.
type subscription struct {
	signal chan struct{}
}

func newUpdates() *updates {
	return &updates{topics: map[Topic]map[*subscription]bool{}, byUser: map[string]int{}}
}

// Subscribe returns a channel with a signal whenever the topic has moved, and
// what ends it. The caller must end it.
func (c *Cluster) Subscribe(user User, topic Topic) (signal <-chan struct{}, end func(), err error) {
	return c.updates.subscribe(user.Username, topic)
}

func (u *updates) subscribe(username string, topic Topic) (<-chan struct{}, func(), error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.total >= watchers || u.byUser[username] >= watchersOfUser {
		return nil, nil, fault.New(fault.Unavailable, nil, "Too many pages are live at once. Close some, or use “Check again”.")
	}
	s := &subscription{signal: make(chan struct{}, 1)}
	if u.topics[topic] == nil {
		u.topics[topic] = map[*subscription]bool{}
	}
	u.topics[topic][s] = true
	u.total++
	u.byUser[username]++
	end := sync.OnceFunc(func() { u.unsubscribe(username, topic, s) })
	return s.signal, end, nil
}

func (u *updates) unsubscribe(username string, topic Topic, s *subscription) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.topics[topic], s)
	if len(u.topics[topic]) == 0 {
		delete(u.topics, topic)
	}
	u.total--
	if u.byUser[username]--; u.byUser[username] == 0 {
		delete(u.byUser, username)
	}
}

// publish signals the pages that show an object.
func (u *updates) publish(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	switch o := object.(type) {
	case *v1alpha1.ChangeRequest:
		u.signal(ChangeTopic(o.Namespace, o.Name), ServiceTopic(o.Namespace, o.Spec.Service), AnyTopic())
	case *v1alpha1.Review:
		u.signal(ChangeTopic(o.Namespace, o.Spec.ChangeRequest), AnyTopic())
	case *v1alpha1.Run:
		u.signal(RunTopic(o.Namespace, o.Name), ChangeTopic(o.Namespace, o.Spec.ChangeRequest), ServiceTopic(o.Namespace, o.Spec.Service))
	case *pulumiv1.Stack:
		u.signal(ServiceTopic(o.Namespace, ServiceOf(o)), AnyTopic())
	case *pulumiv1.Program:
		u.signal(ServiceTopic(o.Namespace, o.Name))
	}
}

func (u *updates) signal(topics ...Topic) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, topic := range topics {
		for s := range u.topics[topic] {
			select {
			case s.signal <- struct{}{}:
			default: // one is waiting already
			}
		}
	}
}
