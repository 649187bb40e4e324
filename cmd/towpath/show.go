package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/internal/fault"
)

func newShowCommand() *cobra.Command {
	var c caller
	command := &cobra.Command{
		Use:   "show CHANGE [ENVIRONMENT]",
		Short: "Show a change: the plan for each environment and what it waits for",
		Long: `Show a change by its name, or the newest change of a service by the service's
name. With an environment, its plan is shown to the last property; without, what
is created is only named.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			k, err := c.client()
			if err != nil {
				return err
			}
			cr, err := c.findChange(command.Context(), k, args[0])
			if err != nil {
				return err
			}
			only := ""
			if len(args) == 2 {
				only = args[1]
				if !slices.ContainsFunc(cr.Status.Stacks, func(sc v1alpha1.StackChange) bool { return sc.Environment == only }) {
					return fault.New(fault.NotFound, nil, "The change does not go to %q: %s.", only, cr.Status.Progress)
				}
			}
			return show(command.Context(), k, cr, only, command.OutOrStdout())
		},
	}
	c.flags(command)
	return command
}

// shown is a change with what belongs to it.
type shown struct {
	change  v1alpha1.ChangeRequest
	runs    map[string]v1alpha1.Run
	reviews []v1alpha1.Review
	// only names the one environment to show, in full; "" shows all, in brief.
	only string
}

func show(ctx context.Context, k client.Client, cr *v1alpha1.ChangeRequest, only string, out io.Writer) error {
	s := shown{change: *cr, only: only, runs: map[string]v1alpha1.Run{}}
	for _, sc := range cr.Status.Stacks {
		for _, name := range []string{sc.Preview, sc.Apply} {
			if name == "" {
				continue
			}
			var run v1alpha1.Run
			err := k.Get(ctx, client.ObjectKey{Namespace: cr.Namespace, Name: name}, &run)
			if err != nil && !apierrors.IsNotFound(err) {
				return explain(err, "read run "+name)
			}
			s.runs[name] = run
		}
	}
	var reviews v1alpha1.ReviewList
	if err := k.List(ctx, &reviews, client.InNamespace(cr.Namespace)); err != nil {
		return explain(err, "read the reviews in "+cr.Namespace)
	}
	for _, review := range reviews.Items {
		if review.Spec.ChangeRequest == cr.Name {
			s.reviews = append(s.reviews, review)
		}
	}
	slices.SortFunc(s.reviews, func(a, b v1alpha1.Review) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	_, err := io.WriteString(out, s.text())
	return err
}

// text renders a change for a terminal. Whatever came from people or the cluster
// is made safe first.
func (s shown) text() string {
	var b strings.Builder
	cr := s.change
	fmt.Fprintf(&b, "Change %s of service %s, by %s\n", cr.Name, cr.Spec.Service, plan.Sanitize(cr.Spec.Author.Username))
	if cr.Spec.Description != "" {
		fmt.Fprintf(&b, "%s\n", plan.Sanitize(cr.Spec.Description))
	}
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(stands(cr.Status.Phase)+". "+plan.Sanitize(cr.Status.Message)))
	for _, problem := range cr.Status.Problems {
		fmt.Fprintf(&b, "  %s\n", plan.Sanitize(problem.Path+": "+problem.Message))
	}
	for _, sc := range cr.Status.Stacks {
		if s.only == "" || s.only == sc.Environment {
			s.environment(&b, sc)
		}
	}
	return b.String()
}

func (s shown) environment(b *strings.Builder, sc v1alpha1.StackChange) {
	fmt.Fprintf(b, "\n== %s: %s\n", sc.Environment, sc.Phase)
	if w := sc.Waiting; w != nil {
		fmt.Fprintf(b, "   Waits for %s: %s\n   Who can act: %s. Since %s.\n", strings.ToLower(string(w.Kind)), plan.Sanitize(w.Message), plan.Sanitize(w.Who), w.Since.Format(time.RFC3339))
	}
	if sc.Message != "" {
		fmt.Fprintf(b, "   %s\n", plan.Sanitize(sc.Message))
	}
	for _, difference := range sc.Differences {
		fmt.Fprintf(b, "   Differs: %s: %s\n", plan.Sanitize(difference.What), plan.Sanitize(difference.Detail))
	}
	if sc.Approval != nil {
		fmt.Fprintf(b, "   %s.\n", plan.Sanitize(sc.Approval.Reason))
	}
	for _, review := range s.reviews {
		if string(review.Spec.Environment) == sc.Environment {
			fmt.Fprintf(b, "   %s\n", reviewText(review))
		}
	}
	if sc.Plan != nil {
		fmt.Fprintf(b, "   Plan %s (run %s)\n", short(sc.Plan.Digest), sc.Preview)
		if run := s.runs[sc.Preview]; run.Status.Plan != nil {
			text := plan.Text(s.brief(*run.Status.Plan), sc.Plan.Summary)
			text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n   ")
			fmt.Fprintf(b, "   %s\n", strings.ReplaceAll(text, "\n   \n", "\n\n"))
		}
	}
	if sc.Apply != "" {
		run := s.runs[sc.Apply]
		fmt.Fprintf(b, "   Apply: run %s %s\n", sc.Apply, run.Status.Phase)
		if sc.Phase == v1alpha1.StackApplied {
			s.outputs(b, run)
		}
	}
}

// brief leaves out the properties of what is created, unless one environment is
// asked for: nothing was there before that they could be compared with.
func (s shown) brief(p v1alpha1.RunPlan) v1alpha1.RunPlan {
	if s.only != "" {
		return p
	}
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		if p.Steps[i].Kind == v1alpha1.StepCreate {
			p.Steps[i].Changes, p.Steps[i].Omitted = nil, 0
		}
	}
	return p
}

func (s shown) outputs(b *strings.Builder, run v1alpha1.Run) {
	names := make([]string, 0, len(run.Status.Outputs))
	for name := range run.Status.Outputs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(b, "   Output %s = %s\n", plan.Sanitize(name), plan.Sanitize(string(run.Status.Outputs[name].Raw)))
	}
}

func reviewText(review v1alpha1.Review) string {
	text := fmt.Sprintf("%s by %s", review.Spec.Decision, review.Spec.Reviewer.Username)
	if review.Spec.Comment != "" {
		text += ": " + review.Spec.Comment
	}
	if review.Status.Counts != nil && !*review.Status.Counts && review.Spec.Decision != v1alpha1.Comment {
		text += " (does not count: " + review.Status.Message + ")"
	}
	return plan.Sanitize(text)
}

// stands is a change's phase in a word or two.
func stands(phase v1alpha1.ChangePhase) string {
	if phase == "" {
		return "Not looked at yet"
	}
	return string(phase)
}

// short is a digest for people: enough of it to tell two plans apart.
func short(digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return hex[:min(12, len(hex))]
}
