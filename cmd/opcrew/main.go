// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command opcrew runs the operators: every kind of the list in kinds.go, or those of
// one layer, in one process. Flags and wiring live here; what all kinds share is in
// internal/kit, each kind in internal/kinds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the image has none, and schedules name time zones

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
)

// version is set by the build.
var version = "dev"

// flags are those of the command line.
type flags struct {
	layer      string
	kinds      string
	namespaces string
	metrics    string
	probes     string
	elect      string
	helper     string
	backup     string
	redis      string
	dial       string
	log        zap.Options
}

// defaultRedisImage is the fastest stable line: its servers move slots by themselves. Clusters that run keep what they have.
const defaultRedisImage = "docker.io/valkey/valkey:9.1"

// What make docker-build makes beside the operator's own image.
const (
	defaultHelperImage = "opcrew/opcrew-helper:dev"
	defaultBackupImage = "opcrew/opcrew-backup:dev"
)

func main() {
	f := parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&f.log)))
	if err := run(ctrl.SetupSignalHandler(), f); err != nil {
		ctrl.Log.Error(err, "Stopped")
		os.Exit(1)
	}
}

func parse() *flags {
	f := &flags{}
	flag.StringVar(&f.layer, "layer", "", "serve the kinds of one layer only: machines, applications or data; empty: all")
	flag.StringVar(&f.kinds, "kinds", "", "serve only these kinds, separated by commas: "+strings.Join(names(kinds()), ", "))
	flag.StringVar(&f.namespaces, "namespaces", "", "serve namespaced kinds only in these namespaces, separated by commas; empty: all")
	flag.StringVar(&f.metrics, "metrics-bind-address", ":8443", "where metrics are served over TLS to those who may read them; 0: nowhere")
	flag.StringVar(&f.probes, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served; 0: nowhere")
	flag.StringVar(&f.elect, "leader-elect", "auto", "elect one active process for each layer: true, or false if there can be no other; auto is true")
	flag.StringVar(&f.dial, "dial", "auto", "how members of stores are reached: direct, port-forward (through the API server), or auto: direct inside a cluster, port-forward outside")
	flag.StringVar(&f.helper, "helper-image", defaultHelperImage, "image of the helper that runs in pods of some kinds")
	flag.StringVar(&f.redis, "redis-image", defaultRedisImage, "image of Redis or Valkey where a RedisEnterpriseCluster names none, or the vendor's")
	flag.StringVar(&f.backup, "backup-image", defaultBackupImage, "image of what saves and restores etcd")
	f.log.BindFlags(flag.CommandLine)
	flag.Parse()
	return f
}

func run(ctx context.Context, f *flags) error {
	served, err := choose(kinds(), f.layer, f.kinds)
	if err != nil {
		return err
	}
	cfg, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("no cluster to talk to (set KUBECONFIG): %w", err)
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
		return fmt.Errorf("add probes: %w", err)
	}
	ctrl.Log.Info("Starting", "version", version, "layer", layer, "kinds", names(opts.Kinds))
	return mgr.Start(ctx)
}

// options are those of the manager. The namespace is that of the pod that this process runs
// in; "" outside of a cluster, where the manager itself runs no election.
func options(f *flags, served []kit.Kind, namespace string) (kit.Options, error) {
	if !slices.Contains([]string{"true", "false", "auto"}, f.elect) {
		return kit.Options{}, fmt.Errorf("--leader-elect=%s: use true, false or auto", f.elect)
	}
	opts := kit.Options{
		Kinds:           served,
		Namespaces:      split(f.namespaces),
		MetricsAddress:  f.metrics,
		ProbeAddress:    f.probes,
		Registry:        metrics.Registry,
		HelperImage:     f.helper,
		BackupImage:     f.backup,
		RedisImage:      f.redis,
		Clock:           clock.RealClock{},
		ShutdownTimeout: 20 * time.Second,
	}
	if f.elect != "false" && namespace != "" {
		opts.LeaderElectionNamespace = namespace
		opts.LeaderElectionID = lease(f.layer)
	}
	return opts, nil
}

// lease is the name of the lease by which the processes of a layer elect the active one.
func lease(layer string) string { return strings.TrimSuffix(common.Name+"-"+layer, "-") }

// ownNamespace is the namespace of the pod that this process runs in, if it does.
func ownNamespace() (string, bool) {
	raw, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	return strings.TrimSpace(string(raw)), err == nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
