// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kube contains the programs of a Kubernetes cluster in one binary: the API server, the controller manager, the
// scheduler, the kubelet, kube-proxy, kubectl and etcd. The name of the link that runs the binary selects the program.
// If the binary runs as kube, its first argument selects the program.
//
// The seven programs share most of their code. One binary for all of them is built in minutes, and needs a quarter of
// the disk space of seven binaries.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	// These imports provide JSON logging and metrics. The main function of each component imports them too.
	_ "time/tzdata" // for CronJobs with a time zone

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

func main() {
	name, args := component(os.Args)
	os.Args = args
	switch name {
	case "etcd":
		etcdmain.Main(args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllermanager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case "kube-proxy":
		os.Exit(cli.Run(kubeproxy.NewProxyCommand()))
	case "kubectl":
		runKubectl()
	default:
		fmt.Fprintf(os.Stderr, "kube: unknown component %q; the name of the binary or its first argument must be one of %s\n",
			name, strings.Join(components, ", "))
		os.Exit(2)
	}
}

var components = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"}

// component returns the name of the program to run, and its arguments.
func component(argv []string) (string, []string) {
	name := filepath.Base(argv[0])
	if slices.Contains(components, name) || len(argv) < 2 {
		return name, argv
	}
	return argv[1], argv[1:]
}

func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}
