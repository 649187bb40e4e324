package change

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
)

// withdraw ends a change that its author took back. What runs for it is stopped,
// except an apply: that is awaited, so that it ends clean.
func (r *Reconciler) withdraw(ctx context.Context, w *world) (bool, error) {
	if !w.cr.Spec.Withdrawn || w.busy() {
		return false, nil
	}
	if err := r.cancelPreviews(ctx, w); err != nil {
		return true, err
	}
	end(w.cr, v1alpha1.ChangeWithdrawn, "Taken back. What was applied stays as it is.")
	return true, nil
}

// busy reports whether an apply of this change is under way.
func (w *world) busy() bool {
	for _, sc := range w.cr.Status.Stacks {
		if sc.Phase == v1alpha1.StackApplying || sc.Phase == v1alpha1.StackVerifying {
			return true
		}
	}
	return false
}

// closing reports whether no new apply may begin: the change is withdrawn or a
// newer one waits to take its place.
func (w *world) closing() bool {
	return w.cr.Spec.Withdrawn || w.successor() != nil
}

func (r *Reconciler) cancelPreviews(ctx context.Context, w *world) error {
	for _, run := range w.runs {
		if run.Status.Phase.Done() || run.Spec.Cancel || run.Spec.Operation != v1alpha1.Preview {
			continue
		}
		before := run.DeepCopy()
		run.Spec.Cancel = true
		if err := r.Client.Patch(ctx, run, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cancel run %q: %w", run.Name, err)
		}
	}
	return nil
}

// validate refuses a proposal that can never be previewed. It is asked once, when
// the change is new: the catalogue may move on later.
func (r *Reconciler) validate(_ context.Context, w *world) (bool, error) {
	if w.cr.Status.Phase != "" {
		return false, nil
	}
	problems := append(program.Validate(w.cr.Spec.Program, w.catalogue), w.environmentProblems()...)
	if twin := w.twin(); twin != nil {
		problems = append(problems, v1alpha1.Problem{Message: fmt.Sprintf("The same change is already open as %s (%s).", twin.Name, twin.Status.Phase)})
	}
	if len(problems) > 0 {
		w.cr.Status.Problems = problems
		message := problems[0].Message
		if len(problems) > 1 {
			message = fmt.Sprintf("%s And %d more.", message, len(problems)-1)
		}
		end(w.cr, v1alpha1.ChangeRefused, message)
		return true, nil
	}
	return false, nil
}

func (w *world) environmentProblems() []v1alpha1.Problem {
	var problems []v1alpha1.Problem
	for _, proposal := range w.cr.Spec.Environments {
		path := "environments." + string(proposal.Name)
		environment, ok := w.environments[string(proposal.Name)]
		if !ok {
			names := strings.Join(slices.Sorted(maps.Keys(w.environments)), ", ")
			problems = append(problems, v1alpha1.Problem{Path: path, Message: fmt.Sprintf("There is no environment %q; there is %s.", proposal.Name, names)})
			continue
		}
		stack, name := w.stackFor(environment.Name)
		if stack == nil && w.stacks[name] != nil {
			problems = append(problems, v1alpha1.Problem{Path: path, Message: fmt.Sprintf("Stack %s exists and is not of this service in %s; rename one of them.", name, environment.Name)})
		}
		problems = append(problems, program.ValidateConfig(w.cr.Spec.Program, proposal, knownConfig(stack, environment))...)
	}
	return problems
}

// knownConfig are the config keys that have a value without the proposal.
func knownConfig(stack *pulumiv1.Stack, environment v1alpha1.Environment) map[string]bool {
	known := map[string]bool{}
	for key := range environment.Spec.StackTemplate.Config {
		known[key] = true
	}
	if stack != nil {
		for _, key := range configKeys(stack.Spec) {
			known[key] = true
		}
	}
	return known
}

// twin is an older open change with the same content.
func (w *world) twin() *v1alpha1.ChangeRequest {
	for i := range w.siblings {
		other := &w.siblings[i]
		if !other.Status.Phase.Done() && !other.Spec.Withdrawn && newer(w.cr, other) && program.SameProposal(w.cr.Spec, other.Spec) {
			return other
		}
	}
	return nil
}

// supersede ends a change that a newer one of the same service has overtaken,
// once nothing of it is being applied.
func (r *Reconciler) supersede(ctx context.Context, w *world) (bool, error) {
	successor := w.successor()
	if successor == nil || w.busy() {
		return false, nil
	}
	if err := r.cancelPreviews(ctx, w); err != nil {
		return true, err
	}
	end(w.cr, v1alpha1.ChangeSuperseded, fmt.Sprintf("%s by %s took its place.", successor.Name, successor.Spec.Author.Username))
	return true, nil
}

// successor is the newest accepted change of the service after this one.
func (w *world) successor() *v1alpha1.ChangeRequest {
	var found *v1alpha1.ChangeRequest
	for i := range w.siblings {
		other := &w.siblings[i]
		accepted := other.Status.Phase != "" && other.Status.Phase != v1alpha1.ChangeRefused && !other.Spec.Withdrawn
		if accepted && newer(other, w.cr) && (found == nil || newer(other, found)) {
			found = other
		}
	}
	return found
}

// predecessor is an older change of the service that is still being applied.
func (w *world) predecessor() *v1alpha1.ChangeRequest {
	for i := range w.siblings {
		other := &w.siblings[i]
		if newer(w.cr, other) && !other.Status.Phase.Done() && (&world{cr: other}).busy() {
			return other
		}
	}
	return nil
}

// snapshot stores the proposed Program under a name made of its content, and
// fixes the golden path versions.
func (r *Reconciler) snapshot(ctx context.Context, w *world) (bool, error) {
	name := program.SnapshotName(w.cr.Spec.Service, w.cr.Spec.Program)
	w.cr.Status.Snapshot = name
	if w.cr.Status.GoldenPaths == nil {
		w.cr.Status.GoldenPaths = program.Pins(w.cr.Spec.Program, w.catalogue)
	}
	text, err := json.Marshal(w.cr.Spec.Program)
	if err != nil {
		return true, fmt.Errorf("encode the program: %w", err)
	}
	revision := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.cr.Namespace, Name: name,
			Labels: map[string]string{v1alpha1.ServiceLabel: w.cr.Spec.Service},
		},
		Data:     runtime.RawExtension{Raw: text},
		Revision: w.cr.CreationTimestamp.Unix(),
	}
	if err := r.Client.Create(ctx, revision); err != nil && !apierrors.IsAlreadyExists(err) {
		return true, fmt.Errorf("store snapshot %q: %w", name, err)
	}
	return false, nil
}

// end closes a change. Environments that were still waiting no longer do.
func end(cr *v1alpha1.ChangeRequest, phase v1alpha1.ChangePhase, message string) {
	cr.Status.Phase, cr.Status.Message = phase, message
	for i := range cr.Status.Stacks {
		cr.Status.Stacks[i].Waiting = nil
	}
	cr.Status.Progress = progress(cr)
}
