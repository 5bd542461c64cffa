// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package setup

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster"
	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

// Options holds the settings from the command line.
type Options struct {
	// Root is where the root of the host is mounted, Proc the directory with the processes of the host.
	Root, Proc string
	// URL is the address of the API server, CA the file with its certificates, Node the name of the Node.
	URL, CA, Node string
	// Fingerprint is that of the certificates in CA; empty if any will do.
	Fingerprint string
	// Token is the file with the token of the pod.
	Token string
	// Restore is set if the removal restores the host first.
	Restore bool
}

// ParseInstall parses the command line of install. It prints the help to out, and returns errors for the caller to
// print.
func ParseInstall(args []string, out io.Writer) (Options, error) {
	var o Options
	err := flags.Parse("install", args, out, func(set *flag.FlagSet) {
		o.bind(set)
		set.StringVar(&o.URL, "server", service(), "`address` of the API server as the host reaches it, such as https://10.0.0.1:6443; default: the Service of the API server")
		set.StringVar(&o.CA, "ca", account+"ca.crt", "`file` with the certificates of the API server")
		set.StringVar(&o.Fingerprint, "ca-fingerprint", "", "`fingerprint` that the certificates must have; default: any")
		set.StringVar(&o.Token, "token", account+"token", "`file` with the token of this pod")
		set.StringVar(&o.Node, "node", os.Getenv("NODE_NAME"), "`name` of the Node; default: the variable NODE_NAME")
	})
	if err != nil {
		return o, err
	}
	_, err = cluster.ParseServer(encode(cluster.Server{URL: o.URL, CA: o.CA, Node: o.Node}))
	if err != nil {
		err = errors.New("--server must begin with https://, and --ca and --node must be set")
	}
	return o, err
}

// service returns the address of the API server that pods use. Hosts reach it through kube-proxy or its replacement.
func service() string {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return ""
	}
	return "https://" + net.JoinHostPort(host, port)
}

// ParseUninstall parses the command line of uninstall.
func ParseUninstall(args []string, out io.Writer) (Options, error) {
	var o Options
	err := flags.Parse("uninstall", args, out, func(set *flag.FlagSet) {
		o.bind(set)
		set.BoolVar(&o.Restore, "restore", false, "first restore what opcrew changed on the host")
	})
	return o, err
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.Root, "root", "/host", "`directory` where the root of the host is mounted")
	set.StringVar(&o.Proc, "proc", "/proc", "`directory` with the processes of the host")
}

// server returns what the agent must know of the API server. After a renewal, the operator may see other certificates
// than this pod for a minute, and would not notice that the agent has those.
func (o Options) server() (cluster.Server, error) {
	ca, err := os.ReadFile(o.CA)
	if err != nil {
		return cluster.Server{}, fmt.Errorf("read the certificates of the API server: %w", err)
	}
	if o.Fingerprint != "" && machineorder.Fingerprint(ca) != o.Fingerprint {
		return cluster.Server{}, fmt.Errorf("the certificates of the API server in %s have not fingerprint %s, as those of the operator: "+
			"they have probably been renewed a moment ago, and another attempt succeeds when the kubelet has written the new ones", o.CA, o.Fingerprint)
	}
	return cluster.Server{URL: o.URL, CA: string(ca), Node: o.Node}, nil
}
