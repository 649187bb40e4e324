package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/towpath-dev/towpath/internal/dev"
)

func newDevCommand() *cobra.Command {
	options := dev.Options{Program: os.Args[0], Controller: runController, Portal: runDevPortal}
	command := &cobra.Command{
		Use:   "dev",
		Short: "Start Towpath with everything around it on this machine",
		Long: `Start a Kubernetes control plane with simulated nodes, install Towpath, three
environments, golden paths and a few people in it, and run controller and portal.
Everything listens on the loopback interface only. State is kept over restarts.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			options.Out = command.OutOrStdout()
			return dev.Run(command.Context(), options)
		},
	}
	command.Flags().StringVar(&options.Dir, "dir", dev.DefaultDir, "folder of all state")
	command.Flags().StringVar(&options.Toolchain, "toolchain", ".toolchain", "folder of the toolchain that make toolchain builds")
	command.Flags().IntVar(&options.Port, "port", 0, "port of the portal; without it that of the last start, or 8484")
	return command
}
