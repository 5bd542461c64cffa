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
	log        zap.Options
}

// defaultRedisImage is the newest line of Valkey that is maintained for long.
const defaultRedisImage = "docker.io/valkey/valkey:8.1"

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
	flag.StringVar(&f.elect, "leader-elect", "auto", "elect one active process: true, false, or auto, which is true inside a cluster")
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
	opts, err := options(f, served)
	if err != nil {
		return err
	}
	mgr, err := kit.NewManager(cfg, opts)
	if err != nil {
		return err
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return fmt.Errorf("add probes: %w", err)
	}
	ctrl.Log.Info("Starting", "version", version, "layer", f.layer, "kinds", names(served))
	return mgr.Start(ctx)
}

func options(f *flags, served []kit.Kind) (kit.Options, error) {
	namespace, inCluster := ownNamespace()
	if !slices.Contains([]string{"true", "false", "auto"}, f.elect) {
		return kit.Options{}, fmt.Errorf("--leader-elect=%s: use true, false or auto", f.elect)
	}
	elect := f.elect == "true" || (f.elect == "auto" && inCluster)
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
	if !elect {
		return opts, nil
	}
	if !inCluster {
		return opts, errors.New("--leader-elect=true needs a cluster to run in; leave it at auto")
	}
	opts.LeaderElectionNamespace = namespace
	opts.LeaderElectionID = strings.TrimSuffix(common.Name+"-"+f.layer, "-")
	return opts, nil
}

// ownNamespace is the namespace of the pod that this process runs in, if it does.
func ownNamespace() (string, bool) {
	raw, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	return strings.TrimSpace(string(raw)), err == nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
