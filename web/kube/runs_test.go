package kube

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func ended(n int, message string) *v1alpha1.Run {
	return &v1alpha1.Run{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("run-", n), UID: types.UID(fmt.Sprint(n)), ResourceVersion: "1"},
		Spec:       v1alpha1.RunSpec{Operation: v1alpha1.Preview},
		Status:     v1alpha1.RunStatus{Phase: v1alpha1.RunSucceeded, Message: message},
	}
}

func TestPackedRunsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	packed := newPackedRuns()
	run := ended(1, "fine")
	if err := packed.keep(run); err != nil {
		t.Fatal(err)
	}
	found, err := packed.find(run)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, found); diff != "" {
		t.Error(diff)
	}
	changed := run.DeepCopy()
	changed.ResourceVersion = "2"
	moving := ended(2, "")
	moving.Status.Phase = v1alpha1.RunRunning
	apply := ended(3, "")
	apply.Spec.Operation = v1alpha1.Up
	for name, other := range map[string]*v1alpha1.Run{"of another version": changed, "that moves": moving, "of an apply": apply} {
		if name != "of another version" {
			if err := packed.keep(other); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := packed.find(other); found != nil || err != nil {
			t.Errorf("a run %s: %v, %v", name, found, err)
		}
	}
}

func TestPackedRunsTakeNoMoreThanTheirRoom(t *testing.T) {
	t.Parallel()
	packed := newPackedRuns()
	noise := make([]rune, 100_000) // does not compress well
	const runs = 500
	for n := range runs {
		for i := range noise {
			noise[i] = rune('0' + rand.N(74))
		}
		if err := packed.keep(ended(n, string(noise))); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.find(ended(0, "")); err != nil { // it stays in use
			t.Fatal(err)
		}
	}
	if packed.bytes > room || packed.bytes < room/2 {
		t.Errorf("%d bytes are kept; want nearly %d", packed.bytes, room)
	}
	for n, want := range map[int]bool{0: true, 1: false, runs - 1: true} {
		if found, err := packed.find(ended(n, "")); err != nil || (found != nil) != want {
			t.Errorf("run %d is kept: %t, %v; want %t", n, found != nil, err, want)
		}
	}
}
