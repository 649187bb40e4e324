package run

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestTurn(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	of := func(name, key string, second int, phase v1alpha1.RunPhase) v1alpha1.Run {
		return v1alpha1.Run{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: name, UID: types.UID(name), Labels: map[string]string{v1alpha1.StackKeyLabel: key},
				CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(second) * time.Second)),
			},
			Status: v1alpha1.RunStatus{Phase: phase},
		}
	}
	elsewhere := func(run v1alpha1.Run, namespace string) v1alpha1.Run {
		run.Namespace = namespace
		return run
	}
	lock := func(name string) *v1alpha1.Waiting {
		return &v1alpha1.Waiting{Kind: v1alpha1.WaitLock, Message: "Run " + name + " is at work on the same Pulumi stack; one at a time.", Who: "nobody: it starts when that run has ended"}
	}
	first := func(name string) *v1alpha1.Waiting {
		return &v1alpha1.Waiting{Kind: v1alpha1.WaitLock, Message: "Run " + name + " is on the same Pulumi stack and comes first; one at a time.", Who: "nobody: it starts when that run has ended"}
	}
	queue := &v1alpha1.Waiting{Kind: v1alpha1.WaitQueue, Message: "All 2 workers are busy.", Who: "nobody: it starts when one is free"}
	const running, pending, done = v1alpha1.RunRunning, v1alpha1.RunPending, v1alpha1.RunSucceeded
	me := of("me", "k", 5, pending)
	for name, test := range map[string]struct {
		others []v1alpha1.Run
		want   *v1alpha1.Waiting
	}{
		"alone":                     {nil, nil},
		"another stack is at work":  {[]v1alpha1.Run{of("a", "other", 1, running)}, nil},
		"the same stack is at work": {[]v1alpha1.Run{of("a", "k", 1, running)}, lock("a")},
		"the same stack is at work, though younger":   {[]v1alpha1.Run{of("a", "k", 9, running)}, lock("a")},
		"the same stack in another namespace":         {[]v1alpha1.Run{elsewhere(of("a", "k", 1, running), "other")}, lock("a")},
		"the same stack has ended":                    {[]v1alpha1.Run{of("a", "k", 1, done), of("b", "k", 2, v1alpha1.RunLost)}, nil},
		"an older one waits too":                      {[]v1alpha1.Run{of("a", "k", 1, pending)}, first("a")},
		"an older one is new":                         {[]v1alpha1.Run{of("a", "k", 1, "")}, first("a")},
		"a younger one waits too":                     {[]v1alpha1.Run{of("z", "k", 9, pending)}, nil},
		"of the same second, the first name goes":     {[]v1alpha1.Run{of("z", "k", 5, pending)}, nil},
		"of the same second, a later name waits":      {[]v1alpha1.Run{of("a", "k", 5, pending)}, first("a")},
		"a worker is free":                            {[]v1alpha1.Run{of("a", "x", 1, running)}, nil},
		"no worker is free":                           {[]v1alpha1.Run{of("a", "x", 1, running), of("b", "y", 2, running)}, queue},
		"those that wait take no worker":              {[]v1alpha1.Run{of("a", "x", 1, running), of("b", "y", 2, pending), of("c", "z", 3, done)}, nil},
		"the lock is told before the queue":           {[]v1alpha1.Run{of("a", "x", 1, running), of("b", "y", 2, running), of("c", "k", 3, pending)}, first("c")},
		"itself is no other, whatever is known of it": {[]v1alpha1.Run{of("me", "k", 5, running)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, turn(me, append(test.others, me), 2)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever runs there are, one of them can go, and never two of one stack.
func TestSomebodyAlwaysHasTheTurn(t *testing.T) {
	var all []v1alpha1.Run
	for i := range 12 {
		all = append(all, v1alpha1.Run{ObjectMeta: metav1.ObjectMeta{
			Name: string(rune('a' + i)), UID: types.UID(rune('a' + i)), Labels: map[string]string{v1alpha1.StackKeyLabel: string(rune('x' + i%3))},
		}})
	}
	for ended := 0; ended < len(all); {
		started := map[string]bool{}
		for i := range all {
			if all[i].Status.Phase.Done() || turn(all[i], all, 2) != nil {
				continue
			}
			key := all[i].Labels[v1alpha1.StackKeyLabel]
			if started[key] {
				t.Fatalf("two runs of stack %s at once", key)
			}
			started[key] = true
			all[i].Status.Phase = v1alpha1.RunRunning
		}
		if len(started) == 0 || len(started) > 2 {
			t.Fatalf("%d runs start, there are 2 workers and %d runs to do", len(started), len(all)-ended)
		}
		for i := range all {
			if all[i].Status.Phase == v1alpha1.RunRunning {
				all[i].Status.Phase = v1alpha1.RunSucceeded
				ended++
			}
		}
	}
}

func TestTheEndOfALogIsKept(t *testing.T) {
	lines := make([]v1alpha1.LogLine, logLines+3)
	for i := range lines {
		lines[i].Text = string(rune('a' + i%26))
	}
	for name, test := range map[string]struct {
		given []v1alpha1.LogLine
		want  *v1alpha1.RunLog
	}{
		"none":                  {nil, nil},
		"as many as are kept":   {lines[:logLines], &v1alpha1.RunLog{Lines: lines[:logLines]}},
		"three more than those": {lines, &v1alpha1.RunLog{Lines: lines[3:], Omitted: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, tail(test.given)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
