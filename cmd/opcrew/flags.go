// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"strings"

	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/opcrew/opcrew/internal/kinds"
)

// flags holds the values of the command line flags.
type flags struct {
	layer      string
	kinds      string
	namespaces string
	metrics    string
	probes     string
	elect      string
	agent      string
	backup     string
	redis      string
	dial       string
	requester  bool
	verbosity  int
	log        zap.Options
}

// defaultRedisImage is the fastest stable version of Valkey; its servers can migrate slots themselves. A change of this
// default does not affect running clusters.
const defaultRedisImage = "docker.io/valkey/valkey:9.1"

// These are the default names of the agent image and the backup image. make docker-build builds images with these
// names. No one can publish an image under them, because a registry in the domain .invalid cannot exist. So opcrew
// never runs a foreign image if the flag for an image is missing.
const (
	defaultAgentImage  = "opcrew.invalid/opcrew-agent:dev"
	defaultBackupImage = "opcrew.invalid/opcrew-backup:dev"
)

func parse() *flags {
	f := &flags{}
	flag.StringVar(&f.layer, "layer", "", "serve only the kinds of one layer: machines, applications or data; empty means all layers")
	flag.StringVar(&f.kinds, "kinds", "", "serve only the kinds in this comma-separated list; the kinds are "+strings.Join(names(kinds.All()), ", "))
	flag.StringVar(&f.namespaces, "namespaces", "", "serve namespaced kinds only in the namespaces of this comma-separated list; empty means all namespaces")
	flag.StringVar(&f.metrics, "metrics-bind-address", ":8443", "address that serves metrics over TLS to authorized clients; 0 disables it")
	flag.StringVar(&f.probes, "health-probe-bind-address", ":8081", "address that serves /healthz and /readyz; 0 disables it")
	flag.StringVar(&f.elect, "leader-elect", "auto", "elect a leader for each layer: true or auto; use false only if there is a single process")
	flag.StringVar(&f.dial, "dial", "auto", "how the operator connects to databases: direct, port-forward (through the API server), or auto (direct inside a cluster, port-forward outside)")
	flag.StringVar(&f.agent, "agent-image", defaultAgentImage, "image of the agent program, which runs in pods of some kinds")
	flag.StringVar(&f.redis, "redis-image", defaultRedisImage, "Redis or Valkey image for each RedisEnterpriseCluster that specifies no image, or the image of Redis Enterprise")
	flag.StringVar(&f.backup, "backup-image", defaultBackupImage, "image of the program that backs up and restores etcd")
	flag.BoolVar(&f.requester, "requester-checks", true, "create pods only if the user who requested their object may use the Secrets, ServiceAccounts and classes that the object names")
	flag.IntVar(&f.verbosity, "v", 0, "log verbosity: 0 logs changes, 1 also logs why nothing was done")
	f.log.BindFlags(flag.CommandLine)
	flag.Parse()
	if f.verbosity > 0 {
		f.log.Level = zapcore.Level(-f.verbosity)
	}
	return f
}
