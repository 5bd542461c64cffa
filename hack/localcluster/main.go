// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command localcluster runs a real Kubernetes cluster on one Linux machine. Its nodes are sets of namespaces, each with
// its own init, containerd and kubelet. It needs no virtual machines, container engine or external registry.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/addons/loadbalancer"
	"github.com/opcrew/opcrew/hack/localcluster/cluster"
	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/machineinit"
	"github.com/opcrew/opcrew/hack/localcluster/netpolicy"
	"github.com/opcrew/opcrew/hack/localcluster/opimage"
	"github.com/opcrew/opcrew/hack/localcluster/registry"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "localcluster:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return newRoot().ExecuteContext(ctx)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "localcluster",
		Short:         "Run a real Kubernetes cluster on this machine",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(cluster.Commands()...)
	root.AddCommand(machineinit.Commands()...)
	root.AddCommand(image.NewCommand(cluster.Load), opimage.NewCommand(cluster.Load), loadbalancer.NewCommand(), netpolicy.NewCommand(), registry.NewCommand())
	return root
}
