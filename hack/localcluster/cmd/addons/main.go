// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command addons is the programs of the cluster's add-ons that come from other projects:
// CoreDNS and metrics-server. The first argument says which of them runs.
//
// Both are built here and not by `go install` so that they share Kubernetes' libraries with
// the other binaries, which compiles them once. The add-ons' manifests and arguments are in
// package addons.
package main

import (
	"fmt"
	"os"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	metricsserver "sigs.k8s.io/metrics-server/cmd/metrics-server/app"

	// The plugins that the Corefile names.
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	name := ""
	if len(os.Args) > 1 {
		name, os.Args = os.Args[1], os.Args[1:]
	}
	switch name {
	case "coredns":
		// In the order in which they see a query, as in CoreDNS' own plugin.cfg.
		dnsserver.Directives = []string{"bind", "errors", "template", "kubernetes"}
		coremain.Run()
	case "metrics-server":
		os.Exit(cli.Run(metricsserver.NewMetricsServerCommand(genericapiserver.SetupSignalHandler())))
	default:
		fmt.Fprintf(os.Stderr, "addons: no program %q; the first argument is coredns or metrics-server\n", name)
		os.Exit(2)
	}
}
