// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command naive is an operator with which benchmarks compare opcrew. It serves kinds that come from tutorial articles,
// and works in the style of such a tutorial, like most first operators. Every reconcile writes every child, every node
// of a pool and the whole status. The operator reconciles each object again after some seconds, in case an event was
// missed.
//
// The operator is neither optimized nor deliberately slow.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// lookAgain is the time after which the operator reconciles every object again.
const lookAgain = 10 * time.Second

func main() {
	kind := flag.String("kind", "", "the kind to serve: nodepool or memcached")
	namespaces := flag.String("namespaces", "", "namespaces to serve, separated by commas; empty: all")
	metrics := flag.String("metrics-bind-address", "0", "where metrics are served")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*kind, *namespaces, *metrics); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kind, namespaces, metrics string) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(nodesv1.AddToScheme(scheme))
	utilruntime.Must(cachev1alpha1.AddToScheme(scheme))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("no cluster to talk to: %w", err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Cache: cache.Options{DefaultNamespaces: served(namespaces)},
		Metrics: metricsserver.Options{BindAddress: metrics}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return fmt.Errorf("create the manager: %w", err)
	}
	setups := map[string]func(ctrl.Manager) error{
		"nodepool": (&nodePoolReconciler{Client: mgr.GetClient(), Scheme: scheme}).setup,
		appName:    (&memcachedReconciler{Client: mgr.GetClient(), Scheme: scheme}).setup,
	}
	setup, ok := setups[kind]
	if !ok {
		return fmt.Errorf("--kind=%s: use nodepool or memcached", kind)
	}
	if err := setup(mgr); err != nil {
		return fmt.Errorf("set up %s: %w", kind, err)
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func served(namespaces string) map[string]cache.Config {
	if namespaces == "" {
		return nil
	}
	out := map[string]cache.Config{}
	for name := range strings.SplitSeq(namespaces, ",") {
		out[name] = cache.Config{}
	}
	return out
}
