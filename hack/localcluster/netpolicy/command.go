// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package netpolicy

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// CommandName is the name of the hidden subcommand, and of the service that runs it.
const CommandName = "run-netpolicy"

// NewCommand returns the hidden subcommand that each node runs as a service.
func NewCommand() *cobra.Command {
	var kubeconfig, node string
	command := &cobra.Command{
		Use:    CommandName,
		Short:  "Enforce NetworkPolicies for the pods of the node in whose network namespace this command runs",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return fmt.Errorf("read %s: %w", kubeconfig, err)
			}
			config.UserAgent = "localcluster-netpolicy"
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return Run(ctx, client, node)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "path of the kubeconfig for the API server")
	command.Flags().StringVar(&node, "node", "", "name of the node")
	return command
}

// sortByName sorts a list by name, so that the same objects always give the same rules.
func sortByName[T any](list []T, name func(T) string) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}
