// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// CommandName is the name of the hidden subcommand, and of the service that runs it.
const CommandName = "run-loadbalancer"

// NewCommand returns the hidden subcommand that runs the load balancer. `localcluster up` starts it as a service.
func NewCommand() *cobra.Command {
	var kubeconfig, pool string
	command := &cobra.Command{
		Use:    CommandName,
		Short:  "Assign addresses to Services of type LoadBalancer",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			prefix, err := netip.ParsePrefix(pool)
			if err != nil {
				return fmt.Errorf("read --pool: %w", err)
			}
			client, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return Run(ctx, client, prefix)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "path of the kubeconfig for the API server")
	command.Flags().StringVar(&pool, "pool", "", "range of addresses for Services, as ADDRESS/BITS")
	return command
}

func connect(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kubeconfig, err)
	}
	config.UserAgent = "localcluster-loadbalancer"
	return kubernetes.NewForConfig(config)
}
