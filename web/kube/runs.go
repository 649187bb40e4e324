package kube

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// runs reads runs with their plans. The cache has them without their bulk; what is
// worth reading of previews that have ended is kept packed for as long as there is
// room.
type runs struct {
	cached client.Reader
	live   client.Client
	packed *packedRuns
}

// read returns a run, at least as new as the cache has it.
func (r *runs) read(ctx context.Context, key client.ObjectKey) (*v1alpha1.Run, error) {
	var known v1alpha1.Run
	if err := r.cached.Get(ctx, key, &known); err != nil {
		return r.ask(ctx, key, "")
	}
	if known.Spec.Operation == v1alpha1.Up && known.Status.Phase == v1alpha1.RunSucceeded {
		return &known, nil
	}
	if run, err := r.packed.find(&known); err != nil || run != nil {
		return run, err
	}
	// The API server answers this one from its memory, too.
	run, err := r.ask(ctx, key, known.ResourceVersion)
	if err != nil && !apierrors.IsNotFound(err) {
		run, err = r.ask(ctx, key, "")
	}
	if err != nil {
		return nil, err
	}
	return run, r.packed.keep(run)
}

// ask asks the API server for a run that is not older than a version; without one,
// for the newest.
func (r *runs) ask(ctx context.Context, key client.ObjectKey, notBefore string) (*v1alpha1.Run, error) {
	var run v1alpha1.Run
	options := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: notBefore}}
	if err := r.live.Get(ctx, key, &run, options); err != nil {
		return nil, fmt.Errorf("read run %s: %w", key, err)
	}
	return &run, nil
}

// room is how much memory packed runs may take, in bytes: some five thousand plans
// of ten resources.
const room = 16 << 20

// packedRuns keeps what is worth reading of previews that have ended, compressed.
// When there is no more room, those that were not looked at for longest give way.
type packedRuns struct {
	mu    sync.Mutex
	lru   *lru.Cache
	bytes int

	writers sync.Pool
}

func newPackedRuns() *packedRuns {
	p := &packedRuns{}
	p.lru = lru.NewWithEvictionFunc(0, func(_ lru.Key, packed any) { p.bytes -= len(packed.([]byte)) })
	return p
}

// version names one state of one object.
type version struct {
	uid             types.UID
	resourceVersion string
}

func versionOf(run *v1alpha1.Run) version { return version{run.UID, run.ResourceVersion} }

// keep packs a run if it is a preview that has ended: those do not change.
func (p *packedRuns) keep(run *v1alpha1.Run) error {
	if run.Spec.Operation != v1alpha1.Preview || !run.Status.Phase.Done() {
		return nil
	}
	// The page of a change shows the plan, and the log of what went wrong.
	lean := *run
	slim(&lean)
	lean.Status.Plan = run.Status.Plan
	if run.Status.Phase != v1alpha1.RunSucceeded {
		lean.Status.Log = run.Status.Log
	}
	text, err := json.Marshal(&lean)
	if err != nil {
		return fmt.Errorf("pack run %q: %w", run.Name, err)
	}
	packed, err := p.compress(text)
	if err != nil {
		return fmt.Errorf("pack run %q: %w", run.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.lru.Get(versionOf(run)); ok {
		return nil
	}
	p.lru.Add(versionOf(run), packed)
	p.bytes += len(packed)
	for p.bytes > room && p.lru.Len() > 0 {
		p.lru.RemoveOldest()
	}
	return nil
}

// find returns a run in just the state that the cache knows it in, nil if it is
// not kept.
func (p *packedRuns) find(known *v1alpha1.Run) (*v1alpha1.Run, error) {
	p.mu.Lock()
	packed, ok := p.lru.Get(versionOf(known))
	p.mu.Unlock()
	if !ok {
		return nil, nil
	}
	var run v1alpha1.Run
	if err := json.NewDecoder(flate.NewReader(bytes.NewReader(packed.([]byte)))).Decode(&run); err != nil {
		return nil, fmt.Errorf("unpack run %q: %w", known.Name, err)
	}
	return &run, nil
}

func (p *packedRuns) compress(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, ok := p.writers.Get().(*flate.Writer)
	if ok {
		w.Reset(&packed)
	} else {
		var err error
		if w, err = flate.NewWriter(&packed, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	defer p.writers.Put(w)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return bytes.Clone(packed.Bytes()), nil
}
