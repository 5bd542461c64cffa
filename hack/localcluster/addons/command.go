// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"fmt"

	"github.com/spf13/cobra"
)

// NewCommand is `addons` with its subcommands, which the Makefile calls.
func NewCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "addons",
		Short: "The programs that every cluster gets: DNS, metrics, volumes, addresses",
		Args:  cobra.NoArgs,
	}
	command.AddCommand(newBuild(), newList())
	return command
}

func newBuild() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "build",
		Short: "Build the add-ons' binaries that are missing or of another version",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return Build(command.Context(), output, command.ErrOrStderr())
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "bin", "folder for the binaries")
	return command
}

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the add-ons' binaries, each with what `go install` builds it from",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			for _, binary := range Binaries() {
				fmt.Fprintf(command.OutOrStdout(), "%s %s@%s\n", binary.Name, binary.Package, binary.Version)
			}
			return nil
		},
	}
}
