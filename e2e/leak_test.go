package e2e

import (
	"fmt"
	"testing"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// After 20 previews and 5 applies everything is as it was after the first.
func TestNoLeaks(t *testing.T) {
	p := sharedPortal(t) // not in parallel, so that nothing else is at work on it
	settle := func(round int) {
		change := p.propose(t, "developer", proposal("leaks", fmt.Sprintf("blue-%d", round), inOrder...))
		p.awaitPhases(t, change, map[string]v1alpha1.StackPhase{
			"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview, "prod": v1alpha1.StackInReview,
		})
	}
	settle(0)
	first := p.memory(t)
	const rounds = 6 // of three previews and one apply each
	for round := 1; round <= rounds; round++ {
		settle(round)
	}
	last := p.memory(t)
	t.Logf("memory of the portal after the first change %d MiB, after %d more previews and %d applies %d MiB", first, 3*rounds, rounds, last)
	if last > first+first/5 {
		t.Errorf("the memory has grown from %d to %d MiB, by more than a fifth", first, last)
	}
	p.checkNothingLeft(t)
}
