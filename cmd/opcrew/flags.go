// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"strings"

	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
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

// defaultRedisImage is the fastest stable version, whose servers migrate slots themselves. Running clusters keep their
// image.
const defaultRedisImage = "docker.io/valkey/valkey:9.1"

// The images that make docker-build builds in addition to the operator's own. Their registry cannot exist: no one can
// publish an image that runs because a flag is missing.
const (
	defaultAgentImage  = "opcrew.invalid/opcrew-agent:dev"
	defaultBackupImage = "opcrew.invalid/opcrew-backup:dev"
)

func parse() *flags {
	f := &flags{}
	flag.StringVar(&f.layer, "layer", "", "serve the kinds of one layer only: machines, applications or data; empty: all")
	flag.StringVar(&f.kinds, "kinds", "", "serve only these kinds, separated by commas: "+strings.Join(names(kinds()), ", "))
	flag.StringVar(&f.namespaces, "namespaces", "", "serve namespaced kinds only in these namespaces, separated by commas; empty: all")
	flag.StringVar(&f.metrics, "metrics-bind-address", ":8443", "address of the metrics, served over TLS to authorized clients; 0: none")
	flag.StringVar(&f.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0: none")
	flag.StringVar(&f.elect, "leader-elect", "auto", "elect a leader for each layer: true, or false if there is only one process; auto is true")
	flag.StringVar(&f.dial, "dial", "auto", "how members of stores are reached: direct, port-forward (through the API server), or auto: direct inside a cluster, port-forward outside")
	flag.StringVar(&f.agent, "agent-image", defaultAgentImage, "image of the agent that runs in pods of some kinds")
	flag.StringVar(&f.redis, "redis-image", defaultRedisImage, "image of Redis or Valkey for a RedisEnterpriseCluster without an image, or with the vendor's")
	flag.StringVar(&f.backup, "backup-image", defaultBackupImage, "image of the program that saves and restores etcd")
	flag.BoolVar(&f.requester, "requester-checks", true, "create pods only if the user who asked for the object may use the Secrets, accounts and classes that it names")
	flag.IntVar(&f.verbosity, "v", 0, "verbosity of the log: 0 logs what changes, 1 also why nothing is done")
	f.log.BindFlags(flag.CommandLine)
	flag.Parse()
	if f.verbosity > 0 {
		f.log.Level = zapcore.Level(-f.verbosity)
	}
	return f
}
