// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package service starts the firewall agent in its pod, with the kernel and the credentials that it finds there.
package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/firewall"
	"github.com/opcrew/opcrew/internal/agents/firewall/cluster"
	"github.com/opcrew/opcrew/internal/agents/firewall/kernel"
	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Options are the flags of the agent.
type Options struct{ Node, StateDir string }

// Parse parses the flags.
func Parse(args []string, out io.Writer) (Options, error) {
	var o Options
	err := flags.Parse("firewall", args, out, func(set *flag.FlagSet) {
		set.StringVar(&o.Node, "node", os.Getenv("NODE_NAME"), "the name of the Node on which the agent runs; default $NODE_NAME")
		set.StringVar(&o.StateDir, "state-dir", nodefirewall.StateDir, "the directory on the host in which the agent keeps its state")
	})
	if err == nil && o.Node == "" {
		err = errors.New("the name of the Node is missing: set --node or $NODE_NAME")
	}
	return o, err
}

// Run keeps the firewall until the context ends.
func Run(ctx context.Context, o Options, log *slog.Logger) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return fmt.Errorf("find the credentials of the pod: %w", err)
	}
	return With(ctx, o, config, kernel.New(), log)
}

// With is Run with another API server or kernel.
func With(ctx context.Context, o Options, config *rest.Config, k firewall.Kernel, log *slog.Logger) error {
	client, err := cluster.New(config, o.Node, clock.RealClock{}, log)
	if err != nil {
		return err
	}
	a := &firewall.Agent{Node: o.Node, Kernel: k, Cluster: client, Store: firewall.NewStore(o.StateDir), Clock: clock.RealClock{}, Log: log}
	ended := make(chan struct{})
	go func() { defer close(ended); client.Watch(ctx) }()
	a.Run(ctx, client.Changed)
	<-ended
	return nil
}
