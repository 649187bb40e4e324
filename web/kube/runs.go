package kube

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

const (
	// keptRuns, keptSteps and keptFor bound the memory for whole runs: so many,
	// with plans of at most so many steps, for so long.
	keptRuns  = 256
	keptSteps = 100
	keptFor   = 10 * time.Minute
)

// runs reads runs whole. A page of a change shows several, of which most have
// ended and stay as they are: those that were read lately are kept.
type runs struct {
	cached client.Reader
	live   client.Client
	whole  *utilcache.LRUExpireCache
}

func newRuns(cached client.Reader, live client.Client) *runs {
	return &runs{cached: cached, live: live, whole: utilcache.NewLRUExpireCache(keptRuns)}
}

// version names one state of one object.
type version struct {
	uid             types.UID
	resourceVersion string
}

func versionOf(run *v1alpha1.Run) version { return version{run.UID, run.ResourceVersion} }

// read returns a run, at least as new as the cache has it. It is shared and must
// not be changed.
func (r *runs) read(ctx context.Context, key client.ObjectKey) (*v1alpha1.Run, error) {
	var known v1alpha1.Run
	if err := r.cached.Get(ctx, key, &known); err != nil {
		return r.ask(ctx, key, "")
	}
	if known.Spec.Operation == v1alpha1.Up && known.Status.Phase == v1alpha1.RunSucceeded {
		return &known, nil
	}
	if run, ok := r.whole.Get(versionOf(&known)); ok {
		return run.(*v1alpha1.Run), nil
	}
	// The API server answers this one from its memory, too.
	run, err := r.ask(ctx, key, known.ResourceVersion)
	if err != nil && !apierrors.IsNotFound(err) {
		run, err = r.ask(ctx, key, "")
	}
	if err != nil {
		return nil, err
	}
	if run.Status.Phase.Done() && (run.Status.Plan == nil || len(run.Status.Plan.Steps) <= keptSteps) {
		r.whole.Add(versionOf(run), run, keptFor)
	}
	return run, nil
}

// ask asks the API server for a run that is not older than a version; without one,
// for the newest.
func (r *runs) ask(ctx context.Context, key client.ObjectKey, notBefore string) (*v1alpha1.Run, error) {
	var run v1alpha1.Run
	options := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: notBefore}}
	if err := r.live.Get(ctx, key, &run, options); err != nil {
		return nil, fmt.Errorf("read run %s: %w", key, err)
	}
	run.ManagedFields = nil
	return &run, nil
}
