package change

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// keptSnapshots is how many snapshots of a service are kept beside those in use,
// as history.
const keptSnapshots = 20

// prune deletes the service's snapshots past the limit. It is asked when a change
// ends: that is when one may have fallen out of use.
func (r *Reconciler) prune(ctx context.Context, w *world) error {
	var revisions appsv1.ControllerRevisionList
	err := r.Live.List(ctx, &revisions, client.InNamespace(w.cr.Namespace), client.MatchingLabels{v1alpha1.ServiceLabel: w.cr.Spec.Service})
	if err != nil {
		return fmt.Errorf("list snapshots of %q: %w", w.cr.Spec.Service, err)
	}
	for _, name := range expendable(revisions.Items, w.snapshotsInUse(), keptSnapshots) {
		revision := &appsv1.ControllerRevision{}
		revision.Namespace, revision.Name = w.cr.Namespace, name
		if err := r.Client.Delete(ctx, revision); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete snapshot %q: %w", name, err)
		}
	}
	return nil
}

// snapshotsInUse are those that a Stack runs at or an open change proposes.
func (w *world) snapshotsInUse() map[string]bool {
	used := map[string]bool{w.cr.Status.Snapshot: true}
	for _, stack := range w.stacks {
		if last := stack.Status.LastUpdate; last != nil {
			used[last.LastSuccessfulCommit], used[last.LastAttemptedCommit] = true, true
		}
	}
	for _, other := range w.siblings {
		if !other.Status.Phase.Done() {
			used[other.Status.Snapshot] = true
		}
	}
	return used
}

// expendable are the snapshots that are neither in use nor among the newest keep.
func expendable(revisions []appsv1.ControllerRevision, used map[string]bool, keep int) []string {
	rest := slices.DeleteFunc(slices.Clone(revisions), func(r appsv1.ControllerRevision) bool { return used[r.Name] })
	slices.SortFunc(rest, func(a, b appsv1.ControllerRevision) int {
		if byTime := b.CreationTimestamp.Compare(a.CreationTimestamp.Time); byTime != 0 {
			return byTime
		}
		return slices.Compare([]byte(a.Name), []byte(b.Name))
	})
	var names []string
	for _, revision := range rest[min(keep, len(rest)):] {
		names = append(names, revision.Name)
	}
	return names
}
