package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

const (
	// look is the time between two looks at something that is awaited.
	look = 100 * time.Millisecond
	// patience bounds every wait: it is for a machine that runs all tests at once.
	patience = 3 * time.Minute
)

// await waits until done reports true. If it never does, the test fails with what
// is awaited and what done last saw.
func (p *portal) await(t *testing.T, what string, done func(ctx context.Context) (bool, string, error)) {
	t.Helper()
	var seen string
	err := wait.PollUntilContextTimeout(t.Context(), look, patience, true, func(ctx context.Context) (bool, error) {
		is, now, err := done(ctx)
		if now != "" {
			seen = now
		}
		return is, err
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v; last seen: %s\n%s", what, err, seen, p.logTail())
	}
}

// awaitChange waits until a change is as wanted, and returns it.
func (p *portal) awaitChange(t *testing.T, name, what string, wanted func(v1alpha1.ChangeRequest) bool) v1alpha1.ChangeRequest {
	t.Helper()
	var cr v1alpha1.ChangeRequest
	err := wait.PollUntilContextTimeout(t.Context(), look, patience, true, func(ctx context.Context) (bool, error) {
		cr = v1alpha1.ChangeRequest{}
		if err := p.admin.Get(ctx, client.ObjectKey{Namespace: team, Name: name}, &cr); err != nil {
			return false, err
		}
		return wanted(cr), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s to be %s: %v\n%s\n%s", name, what, err, p.show(t, name), p.logTail())
	}
	return cr
}

// awaitEnd waits until a change has ended, and fails the test if it did so
// otherwise than wanted.
func (p *portal) awaitEnd(t *testing.T, name string, want v1alpha1.ChangePhase) v1alpha1.ChangeRequest {
	t.Helper()
	cr := p.awaitChange(t, name, string(want), func(cr v1alpha1.ChangeRequest) bool { return cr.Status.Phase.Done() })
	if cr.Status.Phase != want {
		t.Fatalf("%s ended as %s; want %s\n%s", name, cr.Status.Phase, want, p.show(t, name))
	}
	return cr
}

// awaitPhases waits until a change stands in the environments as wanted.
func (p *portal) awaitPhases(t *testing.T, name string, want map[string]v1alpha1.StackPhase) v1alpha1.ChangeRequest {
	t.Helper()
	return p.awaitChange(t, name, fmt.Sprint(want), func(cr v1alpha1.ChangeRequest) bool {
		for environment, phase := range want {
			if in(cr, environment).Phase != phase {
				return false
			}
		}
		return true
	})
}

// in returns how a change stands in an environment.
func in(cr v1alpha1.ChangeRequest, environment string) v1alpha1.StackChange {
	for _, sc := range cr.Status.Stacks {
		if sc.Environment == environment {
			return sc
		}
	}
	return v1alpha1.StackChange{}
}

// get reads an object of the team, or of another namespace, as the administrator.
func get[T client.Object](t *testing.T, p *portal, namespace, name string, into T) T {
	t.Helper()
	if err := p.admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// names lists the names of objects in a namespace, as the administrator.
func (p *portal) names(t *testing.T, list client.ObjectList, namespace string) []string {
	t.Helper()
	if err := p.admin.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var names []string
	err := meta.EachListItem(list, func(object runtime.Object) error {
		names = append(names, object.(client.Object).GetName())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
