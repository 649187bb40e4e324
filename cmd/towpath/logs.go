package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
	"github.com/towpath-dev/towpath/internal/fault"
)

func newLogsCommand() *cobra.Command {
	var c caller
	var follow bool
	command := &cobra.Command{
		Use:   "logs RUN",
		Short: "Show what a run said; with -f, until it has ended",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			k, err := c.client()
			if err != nil {
				return err
			}
			name := client.ObjectKey{Namespace: c.namespace, Name: args[0]}
			return logs(command.Context(), k, name, follow, command.OutOrStdout())
		},
	}
	c.flags(command)
	command.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run has ended")
	return command
}

func logs(ctx context.Context, k client.Client, name client.ObjectKey, follow bool, out io.Writer) error {
	printed := int32(0) // lines of the whole log
	for {
		var run v1alpha1.Run
		if err := k.Get(ctx, name, &run); err != nil {
			if apierrors.IsNotFound(err) {
				return fault.New(fault.NotFound, err, "There is no run %q in namespace %s; show CHANGE names the runs of a change.", name.Name, name.Namespace)
			}
			return explain(err, "read run "+name.Name)
		}
		var err error
		if printed, err = printLog(out, run.Status.Log, printed); err != nil {
			return err
		}
		if run.Status.Phase.Done() || !follow {
			_, err := fmt.Fprintf(out, "%s: %s\n", phaseWord(run.Status.Phase), plan.Sanitize(run.Status.Message))
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// printLog prints the lines of a log after the first printed ones, and returns how
// many are printed then.
func printLog(out io.Writer, log *v1alpha1.RunLog, printed int32) (int32, error) {
	if log == nil {
		return printed, nil
	}
	if printed < log.Omitted {
		_, _ = fmt.Fprintf(out, "… %d earlier lines are not kept here\n", log.Omitted-printed)
		printed = log.Omitted
	}
	for ; printed < log.Omitted+int32(len(log.Lines)); printed++ {
		line := log.Lines[printed-log.Omitted]
		if _, err := fmt.Fprintf(out, "%s %-7s %s\n", line.Time.Format(time.TimeOnly), line.Severity, plan.Sanitize(line.Text)); err != nil {
			return printed, err
		}
	}
	return printed, nil
}

func phaseWord(phase v1alpha1.RunPhase) v1alpha1.RunPhase {
	if phase == "" {
		return v1alpha1.RunPending
	}
	return phase
}
