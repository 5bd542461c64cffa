// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command opcrew runs the operators of all kinds (internal/kinds), or of one layer (machines, applications or data), in one
// process. This package parses the flags and connects the parts. internal/kit contains the code that all kinds share,
// and internal/kinds has a package for each kind.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // schedules need time zones, and the image has no time zone data

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/internal/kit"
)

// version is the version of opcrew. The build sets it.
var version = "dev"

func main() {
	f := parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&f.log)))
	if err := run(ctrl.SetupSignalHandler(), f); err != nil {
		ctrl.Log.Error(err, "Stopped")
		os.Exit(1)
	}
}

func run(ctx context.Context, f *flags) error {
	served, err := choose(kinds.All(), f.layer, f.kinds)
	if err != nil {
		return err
	}
	cfg, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("no cluster is configured (set KUBECONFIG): %w", err)
	}
	cfg.UserAgent = common.Name + "/" + version
	namespace, inCluster := ownNamespace()
	opts, err := options(f, served, namespace)
	if err != nil {
		return err
	}
	if opts.DialPod, err = dialer(f.dial, inCluster, cfg); err != nil {
		return err
	}
	if inCluster {
		return serve(ctx, cfg, opts, f.layer)
	}
	opts.Announce = announce
	return fromOutside(ctx, cfg, f, served, func(ctx context.Context) error { return serve(ctx, cfg, opts, f.layer) })
}

// serve runs the manager until the context ends.
func serve(ctx context.Context, cfg *rest.Config, opts kit.Options, layer string) error {
	mgr, err := kit.NewManager(cfg, opts)
	if err != nil {
		return err
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return fmt.Errorf("add the health checks: %w", err)
	}
	ctrl.Log.Info("Starting", "version", version, "layer", layer, "kinds", names(opts.Kinds))
	return mgr.Start(ctx)
}

// options returns the options of the manager. namespace is the namespace of this process's pod; "" if the process runs
// outside a cluster. In that case package outside holds the leader election leases, and the manager does not.
func options(f *flags, served []kit.Registration, namespace string) (kit.Options, error) {
	if !slices.Contains([]string{"true", "false", "auto"}, f.elect) {
		return kit.Options{}, fmt.Errorf("--leader-elect=%s: use true, false or auto", f.elect)
	}
	opts := kit.Options{
		Kinds:           served,
		Namespace:       cmp.Or(namespace, deployed),
		Namespaces:      split(f.namespaces),
		MetricsAddress:  f.metrics,
		ProbeAddress:    f.probes,
		Registry:        metrics.Registry,
		AgentImage:      f.agent,
		BackupImage:     f.backup,
		RedisImage:      f.redis,
		Node:            os.Getenv("NODE_NAME"), // set by the Deployment
		RequesterChecks: f.requester,
		Clock:           clock.RealClock{},
		ShutdownTimeout: 20 * time.Second,
	}
	if f.elect != "false" && namespace != "" {
		opts.LeaderElectionNamespace = namespace
		opts.LeaderElectionID = lease(f.layer)
	}
	return opts, nil
}

// ownNamespace returns the namespace of this process's pod; false if the process does not run in a pod.
func ownNamespace() (string, bool) {
	raw, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	return strings.TrimSpace(string(raw)), err == nil
}
