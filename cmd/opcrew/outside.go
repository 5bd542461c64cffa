// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/outside"
	"github.com/opcrew/opcrew/internal/portforward"
)

// deployed is the namespace in which config/default deploys the operator.
const deployed = "opcrew-system"

// These are the lease durations of deployed processes: the defaults of controller-runtime.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// dialer returns a function that connects to pods; nil means to use the network of this process.
func dialer(mode string, inCluster bool, cfg *rest.Config) (func(context.Context, string, string) (net.Conn, error), error) {
	switch {
	case mode == "direct" || mode == "auto" && inCluster:
		return nil, nil
	case mode != "port-forward" && mode != "auto":
		return nil, fmt.Errorf("--dial=%s: use auto, direct or port-forward", mode)
	}
	through, err := portforward.New(cfg)
	if err != nil {
		return nil, err
	}
	return through.DialContext, nil
}

// fromOutside calls serve while it holds the leader election leases of the served layers (groups of kinds). A deployed
// operator of the same layers stays inactive meanwhile.
func fromOutside(ctx context.Context, cfg *rest.Config, f *flags, served []kit.Registration, serve func(context.Context) error) error {
	if f.elect == "false" {
		return serve(ctx)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("create a client for leases: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read the host name to identify this process: %w", err)
	}
	return outside.Leases{
		Client: client, Namespace: deployed, Names: leases(served), Identity: host + "_" + string(uuid.NewUUID()), Log: ctrl.Log,
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
	}.Hold(ctx, serve)
}

// leases returns the names of the leases that a process needs to serve these kinds: one for each layer, which is a group
// of kinds (machines, applications or data). The order is fixed, so that two processes that need several leases cannot
// deadlock.
func leases(served []kit.Registration) []string {
	var out []string
	for _, kind := range served {
		out = append(out, lease(kind.Layer))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lease returns the name of the lease by which the processes of a layer, a group of kinds, elect a leader.
func lease(layer string) string { return strings.TrimSuffix(common.Name+"-"+layer, "-") }

// announce prints a table of the kinds that are served and not served.
func announce(served []kit.Registration, unserved map[string]string) {
	_ = outside.Table(os.Stdout, served, unserved) // a failed print is harmless, because the log also lists the kinds
}
