package stack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/change"
	"github.com/towpath-dev/towpath/controller/program"
)

// openChange brings a person's edit of a Program or Stack to the gate, as a
// change in that person's name. It returns after how long to look again.
func (r *Reconciler) openChange(ctx context.Context, stack *pulumiv1.Stack, f facts) (time.Duration, error) {
	if f.program == nil || stack.DeletionTimestamp != nil {
		return 0, nil
	}
	edited, author, at := edits(f)
	if len(edited) == 0 {
		return 0, nil
	}
	if rest := at.Add(settleTime).Sub(r.Clock.Now()); rest > 0 {
		return rest, nil
	}
	mark := editOf(f, edited)
	cr := &v1alpha1.ChangeRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: stack.Namespace, Name: f.program.Name + "-edit-" + strings.TrimPrefix(program.DigestOf(mark), "sha256:")[:10],
			Annotations: map[string]string{editAnnotation: strings.Join(mark, ",")},
		},
		Spec: v1alpha1.ChangeRequestSpec{
			Service: f.program.Name, Program: f.program.Program,
			Description: "Opened for an edit that did not come as a change request.",
			Author:      v1alpha1.Person{Username: author},
		},
	}
	for _, s := range edited {
		cr.Spec.Environments = append(cr.Spec.Environments, v1alpha1.EnvironmentProposal{Name: v1alpha1.EnvironmentName(change.EnvironmentOf(&s))})
	}
	if f.covered(cr) || f.decided(mark) {
		return 0, nil
	}
	err := r.Client.Create(ctx, cr)
	switch {
	case apierrors.IsAlreadyExists(err):
		return 0, nil // decided, or being decided
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err):
		condition(stack, verdict{pulumiv1.StalledCondition, "SpecInvalid", fmt.Sprintf("This edit cannot be brought to review: %v", err)})
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("open change %q: %w", cr.Name, err)
	}
	r.Log.Info("change opened for an edit", "namespace", cr.Namespace, "change", cr.Name, "author", author)
	return 0, nil
}

// edits returns the Stacks of the service that a person's edit reaches, whose
// edit it is, and when it was made. An edit of the Program reaches them all.
func edits(f facts) (edited []pulumiv1.Stack, author string, at time.Time) {
	author = f.program.Annotations[v1alpha1.LastEditorAnnotation]
	program := author != ""
	if program {
		at = touched(f.program)
	}
	for _, stack := range f.siblings {
		editor := stack.Annotations[v1alpha1.LastEditorAnnotation]
		if editor == "" && !program {
			continue
		}
		if author == "" {
			author = editor
		}
		if when := touched(&stack); editor != "" && when.After(at) {
			at = when
		}
		edited = append(edited, stack)
	}
	return edited, author, at
}

// touched is when an object was last written, as its managed fields say.
func touched(object client.Object) time.Time {
	at := object.GetCreationTimestamp().Time
	for _, entry := range object.GetManagedFields() {
		if entry.Time != nil && entry.Subresource == "" && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// editAnnotation is on a change that was opened for an edit, and says of which.
const editAnnotation = "towpath.dev/edit-of"

// editOf identifies an edit by what it left: every object with its generation.
// So an edit is brought to the gate once, also when it was rejected there, and
// once more when somebody makes it again.
func editOf(f facts, edited []pulumiv1.Stack) []string {
	var mark []string
	if f.program.Annotations[v1alpha1.LastEditorAnnotation] != "" {
		mark = append(mark, fmt.Sprintf("%s:%d", f.program.UID, f.program.Generation))
	}
	for _, stack := range edited {
		mark = append(mark, fmt.Sprintf("%s:%d", stack.UID, stack.Generation))
	}
	slices.Sort(mark)
	return mark
}

// decided reports whether a change that was opened for this edit, or for one that
// this is what is left of, has ended.
func (f facts) decided(mark []string) bool {
	for _, other := range f.changes {
		of := strings.Split(other.Annotations[editAnnotation], ",")
		isOf := func(object string) bool { return slices.Contains(of, object) }
		if other.Status.Phase.Done() && !slices.ContainsFunc(mark, func(object string) bool { return !isOf(object) }) {
			return true
		}
	}
	return false
}

// covered reports whether an open change proposes the same Program for all these
// environments already.
func (f facts) covered(cr *v1alpha1.ChangeRequest) bool {
	for _, other := range f.changes {
		if other.Status.Phase.Done() || program.Digest(other.Spec.Program) != program.Digest(cr.Spec.Program) {
			continue
		}
		in := map[v1alpha1.EnvironmentName]bool{}
		for _, proposal := range other.Spec.Environments {
			in[proposal.Name] = true
		}
		all := true
		for _, proposal := range cr.Spec.Environments {
			all = all && in[proposal.Name]
		}
		if all {
			return true
		}
	}
	return false
}
