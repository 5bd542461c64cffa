// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Load reads state.json, the record of the cluster that runs on this machine. It returns an error if no cluster runs.
func Load() (*state.State, error) { return load(state.DefaultDir) }

// Commands returns the subcommands that manage the cluster and its nodes.
func Commands() []*cobra.Command {
	return []*cobra.Command{newUp(), newDown(), newStatus(), newKubeconfig(), newNode()}
}

func newUp() *cobra.Command {
	o := Options{Dir: state.DefaultDir}
	command := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster, or restart the parts of it that are down",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.Out = command.OutOrStdout()
			if o.Binaries == "" {
				self, err := os.Executable()
				if err != nil {
					return err
				}
				o.Binaries = filepath.Dir(self)
			}
			return Up(command.Context(), o)
		},
	}
	command.Flags().IntVar(&o.Nodes, "nodes", 0, fmt.Sprintf("number of nodes (default %d)", defaultNodes))
	command.Flags().BoolVar(&o.Systemd, "systemd", false, "give each node its own Debian system with systemd, instead of a view of this machine's files")
	command.Flags().StringVar(&o.KubeconfigOut, "kubeconfig-out", "", "path for a copy of the kubeconfig, which localcluster down removes")
	command.Flags().StringVar(&o.Binaries, "binaries", "", "folder with the binaries that the cluster runs (default: the folder of this program)")
	return command
}

func newDown() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Remove the cluster and everything that it created on this machine",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return Down(command.Context(), state.DefaultDir, command.OutOrStdout())
		},
	}
}

func newStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the machines and their services; fail if one of them does not work",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return Status(command.Context(), state.DefaultDir, command.OutOrStdout())
		},
	}
}

func newKubeconfig() *cobra.Command {
	var content bool
	command := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the administrator's kubeconfig",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			st, err := Load()
			if err != nil {
				return err
			}
			if !content {
				_, err := fmt.Fprintln(command.OutOrStdout(), st.Kubeconfig())
				return err
			}
			data, err := os.ReadFile(st.Kubeconfig())
			if err != nil {
				return err
			}
			_, err = command.OutOrStdout().Write(data)
			return err
		},
	}
	command.Flags().BoolVar(&content, "content", false, "print the content of the kubeconfig instead of its path")
	return command
}
