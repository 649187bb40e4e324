package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/internal/fault"
)

func newProposeCommand() *cobra.Command {
	var c caller
	command := &cobra.Command{
		Use:   "propose FILE",
		Short: "Propose a change: a ChangeRequest or a Program from a file",
		Long: `Propose what a file holds: one ChangeRequest, or one Program that is then meant
for every environment, and the Secrets that it refers to. "-" reads standard
input. Faults are told before anything is sent.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return propose(command, &c, args[0])
		},
	}
	c.flags(command)
	return command
}

func propose(command *cobra.Command, c *caller, file string) error {
	ctx, out := command.Context(), command.OutOrStdout()
	text, err := readFile(command.InOrStdin(), file)
	if err != nil {
		return err
	}
	manifest, err := program.Decode(text)
	if err != nil {
		return err
	}
	k, err := c.client()
	if err != nil {
		return err
	}
	cr := &manifest.Change
	if cr.Namespace != "" && cr.Namespace != c.namespace && c.namespace != "" && command.Flags().Changed("namespace") {
		return fault.New(fault.Invalid, nil, "The file is for namespace %s, --namespace says %s.", cr.Namespace, c.namespace)
	}
	if cr.Namespace == "" {
		cr.Namespace = c.namespace
	}
	if err := complete(ctx, k, cr); err != nil {
		return err
	}
	if err := check(ctx, k, cr); err != nil {
		return err
	}
	if err := name(ctx, k, cr); err != nil {
		return err
	}
	for i := range manifest.Secrets {
		secret := &manifest.Secrets[i]
		secret.Namespace = cr.Namespace
		err := k.Create(ctx, secret)
		switch {
		case apierrors.IsAlreadyExists(err):
			_, _ = fmt.Fprintf(out, "Secret %s exists and is kept as it is.\n", secret.Name)
		case err != nil:
			return explain(err, "create Secret "+secret.Name)
		default:
			_, _ = fmt.Fprintf(out, "Secret %s created.\n", secret.Name)
		}
	}
	if err := k.Create(ctx, cr); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return fault.New(fault.Conflict, err, "A change named %s exists already.", cr.Name)
		}
		return explain(err, "propose the change "+cr.Name)
	}
	return accepted(ctx, k, cr, out)
}

func readFile(stdin io.Reader, file string) ([]byte, error) {
	if file == "-" {
		text, err := io.ReadAll(io.LimitReader(stdin, 8<<20))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return text, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, err, "There is no file %s.", file)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, err, "The file %s cannot be read.", file)
	}
	return text, nil
}

// complete fills in all environments for a bare Program.
func complete(ctx context.Context, k client.Client, cr *v1alpha1.ChangeRequest) error {
	if len(cr.Spec.Environments) > 0 {
		return nil
	}
	var environments v1alpha1.EnvironmentList
	if err := k.List(ctx, &environments); err != nil {
		return explain(err, "read the environments")
	}
	for _, environment := range environments.Items {
		if environment.Name != v1alpha1.DefaultEnvironment {
			cr.Spec.Environments = append(cr.Spec.Environments, v1alpha1.EnvironmentProposal{Name: v1alpha1.EnvironmentName(environment.Name)})
		}
	}
	return nil
}

// check asks what the controller will ask, so that nothing is sent that it would
// refuse. Values that a Stack has already are known to the controller alone.
func check(ctx context.Context, k client.Client, cr *v1alpha1.ChangeRequest) error {
	var versions v1alpha1.GoldenPathVersionList
	if err := k.List(ctx, &versions); err != nil {
		return explain(err, "read the catalogue")
	}
	return refused(program.Validate(cr.Spec.Program, program.NewCatalogue(versions.Items)))
}

// refused makes one error of problems, nil of none.
func refused(problems []v1alpha1.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString("The proposal is refused; nothing has changed.")
	for _, problem := range problems {
		text.WriteString("\n  " + plan.Sanitize(problem.Path+": "+problem.Message))
	}
	return fault.New(fault.Invalid, nil, "%s", text.String())
}

// name gives a proposal without a name one made of its content. The same content
// proposed twice meets itself.
func name(ctx context.Context, k client.Client, cr *v1alpha1.ChangeRequest) error {
	if cr.Name != "" || cr.GenerateName != "" {
		return nil
	}
	var changes v1alpha1.ChangeRequestList
	if err := k.List(ctx, &changes, client.InNamespace(cr.Namespace)); err != nil {
		return explain(err, "read the changes in "+cr.Namespace)
	}
	chosen, twin := program.ProposalName(cr.Spec, changes.Items)
	if twin != nil {
		return fault.New(fault.Conflict, nil, "The same change is already open as %s (%s); nothing has changed.", twin.Name, twin.Status.Phase)
	}
	cr.Name = chosen
	return nil
}

// accepted waits a moment for the controller's first word.
func accepted(ctx context.Context, k client.Client, cr *v1alpha1.ChangeRequest, out io.Writer) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := k.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return false, explain(err, "read the change "+cr.Name)
		}
		return cr.Status.Phase != "", nil
	})
	switch {
	case cr.Status.Phase == v1alpha1.ChangeRefused:
		return refused(cr.Status.Problems)
	case wait.Interrupted(err):
		_, _ = fmt.Fprintf(out, "Proposed as %s. The controller has not looked at it yet.\n", cr.Name)
		return nil
	case err != nil:
		return err
	}
	_, _ = fmt.Fprintf(out, "Proposed as %s. Its plans are being made; see them with: show %s\n", cr.Name, cr.Spec.Service)
	return nil
}
