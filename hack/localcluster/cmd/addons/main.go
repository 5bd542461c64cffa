// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command addons contains the add-ons that come from other projects: CoreDNS and metrics-server. The first argument
// selects one of them.
//
// Both are built in this program, instead of with `go install`, so that the Kubernetes libraries are compiled only once
// for all binaries. The add-ons' manifests and arguments are in package addons.
package main

import (
	"fmt"
	"os"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	metricsserver "sigs.k8s.io/metrics-server/cmd/metrics-server/app"

	// The plugins that the Corefile uses.
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
		// The order in which plugins handle a query, as in CoreDNS' own plugin.cfg.
		dnsserver.Directives = []string{"bind", "errors", "template", "kubernetes"}
		coremain.Run()
	case "metrics-server":
		os.Exit(cli.Run(metricsserver.NewMetricsServerCommand(genericapiserver.SetupSignalHandler())))
	default:
		fmt.Fprintf(os.Stderr, "addons: unknown program %q; the first argument must be coredns or metrics-server\n", name)
		os.Exit(2)
	}
}
