package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/internal/fault"
)

func newApproveCommand() *cobra.Command {
	return newReviewCommand(v1alpha1.Approve, "approve CHANGE ENVIRONMENT", "Approve the plan of a change for an environment")
}

func newRejectCommand() *cobra.Command {
	command := newReviewCommand(v1alpha1.Reject, "reject CHANGE ENVIRONMENT", "Reject the plan of a change for an environment; say why with -m")
	if err := command.MarkFlagRequired("message"); err != nil {
		panic(err) // the flag is made in newReviewCommand
	}
	return command
}

func newReviewCommand(decision v1alpha1.Decision, use, summary string) *cobra.Command {
	var c caller
	var message, digest string
	command := &cobra.Command{
		Use: use, Short: summary, Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			ctx := command.Context()
			k, err := c.client()
			if err != nil {
				return err
			}
			cr, err := c.findChange(ctx, k, args[0])
			if err != nil {
				return err
			}
			sc, err := reviewable(cr, args[1], digest)
			if err != nil {
				return err
			}
			review := &v1alpha1.Review{
				ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, GenerateName: fmt.Sprintf("%s-%s-", cr.Name, sc.Environment)},
				Spec: v1alpha1.ReviewSpec{
					ChangeRequest: cr.Name, Environment: v1alpha1.EnvironmentName(sc.Environment),
					PlanDigest: sc.Plan.Digest, Decision: decision, Comment: message,
				},
			}
			if err := k.Create(ctx, review); err != nil {
				return explain(err, strings.ToLower(string(decision))+" this plan")
			}
			return judged(ctx, k, review, sc, command)
		},
	}
	c.flags(command)
	command.Flags().StringVarP(&message, "message", "m", "", "what to say with it")
	command.Flags().StringVar(&digest, "plan", "", "the plan you have seen, as show prints it; refused if it is no longer the current one")
	return command
}

// reviewable finds the plan that is to be signed.
func reviewable(cr *v1alpha1.ChangeRequest, environment, digest string) (*v1alpha1.StackChange, error) {
	var names []string
	for i := range cr.Status.Stacks {
		sc := &cr.Status.Stacks[i]
		names = append(names, sc.Environment)
		if sc.Environment != environment {
			continue
		}
		switch {
		case sc.Plan == nil:
			return nil, fault.New(fault.Conflict, nil, "There is no plan for %s yet (%s); look again in a moment.", environment, sc.Phase)
		case cr.Status.Phase.Done():
			return nil, fault.New(fault.Conflict, nil, "The change has ended: %s.", cr.Status.Phase)
		case sc.Phase != v1alpha1.StackInReview && sc.Phase != v1alpha1.StackApproved:
			return nil, fault.New(fault.Conflict, nil, "The plan for %s is past review: %s.", environment, sc.Phase)
		case digest != "" && (len(digest) < 8 || !strings.HasPrefix(strings.TrimPrefix(sc.Plan.Digest, "sha256:"), strings.TrimPrefix(digest, "sha256:"))):
			return nil, fault.New(fault.Conflict, nil, "The plan for %s is now %s, not %s; look at it again.", environment, short(sc.Plan.Digest), digest)
		}
		return sc, nil
	}
	if len(names) == 0 {
		return nil, fault.New(fault.Conflict, nil, "The change has no plans yet (%s); look again in a moment.", stands(cr.Status.Phase))
	}
	return nil, fault.New(fault.NotFound, nil, "The change does not go to %q; it goes to %s.", environment, strings.Join(names, ", "))
}

// judged waits a moment for the gate's word on a review, and tells it.
func judged(ctx context.Context, k client.Client, review *v1alpha1.Review, sc *v1alpha1.StackChange, command *cobra.Command) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := k.Get(ctx, client.ObjectKeyFromObject(review), review); err != nil {
			return false, explain(err, "read the review "+review.Name)
		}
		return review.Status.Counts != nil, nil
	})
	if err != nil && !wait.Interrupted(err) {
		return err
	}
	if counts := review.Status.Counts; counts != nil && !*counts {
		return fault.New(fault.Conflict, nil, "It was recorded and does not count: %s", plan.Sanitize(review.Status.Message))
	}
	word := map[v1alpha1.Decision]string{v1alpha1.Approve: "Approved", v1alpha1.Reject: "Rejected"}[review.Spec.Decision]
	_, err = fmt.Fprintf(command.OutOrStdout(), "%s: plan %s for %s (%s).\n", word, short(sc.Plan.Digest), sc.Environment, sc.Plan.Summary.Text)
	return err
}
