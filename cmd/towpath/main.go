// Command towpath is the portal and its controller in one program. This file
// only says which subcommands there are and how a failure is told; it must link
// no Pulumi package.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/towpath-dev/towpath/internal/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the program with the given arguments and returns its exit code.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	command := newCommand() //nolint:contextcheck // cobra hands the context to the commands
	command.SetArgs(args)
	command.SetOut(out)
	command.SetErr(errOut)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(errOut, "towpath: "+sentence(err))
	return 1
}

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "towpath",
		Short: "Golden paths, previews people sign, and exactly that applied",
		// A failure is told once, by run; how to call a command, by --help.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.AddCommand(
		newDevCommand(),
		newServeCommand(),
		newProposeCommand(),
		newShowCommand(),
		newApproveCommand(),
		newRejectCommand(),
		newLogsCommand(),
	)
	return command
}

// sentence is what a person reads of an error, on one line.
func sentence(err error) string {
	message, ok := fault.Message(err)
	if !ok {
		message = err.Error()
		if errors.Is(err, context.Canceled) {
			message = "interrupted"
		}
	}
	return strings.Join(strings.FieldsFunc(message, func(r rune) bool { return r == '\n' }), "; ")
}
