package change

import (
	"context"
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// Annotations of a Run that let the Stack's status say which generation of the
// Stack an Up was of.
const (
	StackGenerationAnnotation  = "towpath.dev/stack-generation"
	ReconcileRequestAnnotation = "towpath.dev/reconcile-request"
)

// startRun makes sure that the Run for what is wanted exists. Its name comes from
// what it does, so that a crash before the status is written cannot start it
// twice.
func (r *Reconciler) startRun(ctx context.Context, s *stackWork, operation v1alpha1.Operation, attempt int32) (*v1alpha1.Run, error) {
	spec := v1alpha1.RunSpec{
		Operation: operation, ChangeRequest: s.cr.Name, Environment: s.environment.Name,
		Service: s.cr.Spec.Service, StackName: s.change.Stack, Stack: s.desired,
		Snapshot: s.cr.Status.Snapshot, GoldenPaths: s.cr.Status.GoldenPaths,
		Inputs: maps.Clone(s.inputs), Attempt: attempt,
	}
	fill := s.filler(s.environment.Name)
	annotations := map[string]string{}
	if operation == v1alpha1.Preview {
		spec.ServiceAccountName = fill(s.environment.Spec.StackTemplate.PreviewServiceAccountName)
	} else {
		spec.ServiceAccountName = s.desired.ServiceAccountName
		spec.Approved = &v1alpha1.ApprovedPlan{
			Digest: s.change.Plan.Digest, EffectDigest: s.change.Plan.EffectDigest,
			Inputs: s.change.Plan.Inputs, Preview: s.change.Preview,
		}
		annotations[StackGenerationAnnotation] = fmt.Sprint(s.change.Plan.StackGeneration)
		if stack := s.stacks[s.change.Stack]; stack != nil {
			annotations[ReconcileRequestAnnotation] = stack.Annotations[pulumiv1.ReconciliationRequestAnnotation]
		}
	}
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = "default" // as in the Pulumi Kubernetes Operator
	}
	identity := strings.TrimPrefix(program.DigestOf([]any{s.cr.Name, s.cr.UID, spec}), "sha256:")[:10]
	run := &v1alpha1.Run{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.cr.Namespace, Name: fmt.Sprintf("%s-%s-%s", s.change.Stack, strings.ToLower(string(operation)), identity),
			Labels: map[string]string{
				v1alpha1.ServiceLabel: s.cr.Spec.Service, v1alpha1.EnvironmentLabel: s.environment.Name,
				v1alpha1.ChangeRequestLabel: s.cr.Name, v1alpha1.StackKeyLabel: key(s.desired),
			},
			Annotations: annotations,
		},
		Spec: spec,
	}
	err := r.Client.Create(ctx, run)
	if apierrors.IsAlreadyExists(err) {
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
			return nil, fmt.Errorf("read run %q: %w", run.Name, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("create run %q: %w", run.Name, err)
	}
	s.runs[run.Name] = run
	return run, nil
}

// handOver writes what was approved: the Program, and this environment's Stack.
// Nothing is written before an approval. It returns the Stack's generation.
func (r *Reconciler) handOver(ctx context.Context, s *stackWork) (int64, error) {
	if err := r.writeProgram(ctx, s.world); err != nil {
		return 0, err
	}
	stack, name := s.stackFor(s.environment.Name)
	if stack == nil {
		stack = &pulumiv1.Stack{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.cr.Namespace, Name: name,
				Labels: map[string]string{v1alpha1.EnvironmentLabel: s.environment.Name, v1alpha1.ServiceLabel: s.cr.Spec.Service},
			},
			Spec: s.desired,
		}
		if err := r.Client.Create(ctx, stack); err != nil {
			return 0, fmt.Errorf("create stack %q: %w", name, err)
		}
	} else if stack = stack.DeepCopy(); settle(stack) || !equality.Semantic.DeepEqual(stack.Spec, s.desired) {
		// The resource version is the one that was previewed: an edit in between is
		// a conflict, and the next look voids the plan.
		stack.Spec = s.desired
		if err := r.Client.Update(ctx, stack); err != nil {
			return 0, fmt.Errorf("update stack %q: %w", name, err)
		}
	}
	s.stacks[name] = stack
	return stack.Generation, nil
}

func (r *Reconciler) writeProgram(ctx context.Context, w *world) error {
	if w.program == nil {
		w.program = &pulumiv1.Program{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: w.cr.Namespace, Name: w.cr.Spec.Service,
				Labels: map[string]string{v1alpha1.ServiceLabel: w.cr.Spec.Service},
			},
			Program: w.cr.Spec.Program,
		}
		if err := r.Client.Create(ctx, w.program); err != nil {
			return fmt.Errorf("create program %q: %w", w.cr.Spec.Service, err)
		}
	} else if settle(w.program) || !equality.Semantic.DeepEqual(w.program.Program, w.cr.Spec.Program) {
		w.program.Program = w.cr.Spec.Program
		if err := r.Client.Update(ctx, w.program); err != nil {
			return fmt.Errorf("update program %q: %w", w.cr.Spec.Service, err)
		}
	}
	return r.adoptSnapshot(ctx, w)
}

// settle takes the mark of a person's edit off an object whose content has come
// through the gate, and reports whether there was one.
func settle(object client.Object) bool {
	annotations := object.GetAnnotations()
	if _, edited := annotations[v1alpha1.LastEditorAnnotation]; !edited {
		return false
	}
	annotations = maps.Clone(annotations)
	delete(annotations, v1alpha1.LastEditorAnnotation)
	object.SetAnnotations(annotations)
	return true
}

// adoptSnapshot makes the Program the owner of the snapshot, so that it goes
// when the Program goes.
func (r *Reconciler) adoptSnapshot(ctx context.Context, w *world) error {
	var revision appsv1.ControllerRevision
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: w.cr.Namespace, Name: w.cr.Status.Snapshot}, &revision); err != nil {
		return fmt.Errorf("read snapshot %q: %w", w.cr.Status.Snapshot, err)
	}
	before := revision.DeepCopy()
	if err := controllerutil.SetOwnerReference(w.program, &revision, r.Client.Scheme()); err != nil {
		return fmt.Errorf("own snapshot %q: %w", revision.Name, err)
	}
	if equality.Semantic.DeepEqual(before.OwnerReferences, revision.OwnerReferences) {
		return nil
	}
	if err := r.Client.Patch(ctx, &revision, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("own snapshot %q: %w", revision.Name, err)
	}
	return nil
}
