// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

const (
	subcommand = "redis-agent"
	maxPort    = 1<<16 - 1
)

// Options holds the settings from the command line.
type Options struct {
	Cluster         string // name of the cluster, for the status page
	Secrets         string // directory with the files that package redissecrets reads
	Home, Guest     int    // ports of the primary (home) and the replica (guest) in each pod; they are the same in all pods
	Probes, Metrics int    // ports for probes and metrics over plain HTTP
	Page            int    // port of the status page over HTTPS
	// Certificate is a directory with tls.crt and tls.key. While these files are missing, the agent uses a self-signed
	// certificate for Names.
	Certificate string
	Names       []string // DNS names of the status page
}

// Defaults returns the options of an empty command line.
func Defaults() Options {
	return Options{Secrets: "/secrets", Home: 6379, Guest: 6380, Probes: 8080, Metrics: 8070, Page: 8443}
}

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Defaults()
	if err := flags.Parse(subcommand, args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.Cluster, "cluster", "", "`name` of the cluster")
	set.StringVar(&o.Secrets, "secrets", o.Secrets, "`directory` with users/username, system/password and system/accepted")
	set.IntVar(&o.Home, "home-port", o.Home, "`port` of the home server, the primary of a pod's own shard; it is the same in all pods")
	set.IntVar(&o.Guest, "guest-port", o.Guest, "`port` of the guest server, the replica of the neighbour pod's shard; it is the same in all pods")
	set.IntVar(&o.Probes, "probes-port", o.Probes, "`port` that serves /ready and /live")
	set.IntVar(&o.Metrics, "metrics-port", o.Metrics, "`port` that serves /metrics; it is the same in all pods")
	set.IntVar(&o.Page, "page-port", o.Page, "`port` of the status page, which uses TLS and requires a password")
	set.StringVar(&o.Certificate, "certificate", "", "`directory` with tls.crt and tls.key")
	set.Func("name", "DNS `name` of the status page, for the self-signed certificate that the agent uses without --certificate; can be repeated", func(name string) error {
		o.Names = append(o.Names, name)
		return nil
	})
}

func (o *Options) validate() error {
	bad := []error{
		demand(filepath.IsAbs(o.Secrets), "--secrets must be an absolute path"),
		demand(o.Certificate == "" || filepath.IsAbs(o.Certificate), "--certificate must be an absolute path"),
	}
	seen := map[int]bool{}
	for _, port := range []int{o.Home, o.Guest, o.Probes, o.Metrics, o.Page} {
		bad = append(bad, demand(port > 0 && port <= maxPort && !seen[port], fmt.Sprintf("port %d is not a valid port, or is used twice", port)))
		seen[port] = true
	}
	for _, name := range o.Names {
		bad = append(bad, demand(name != "" && !strings.ContainsAny(name, " /:"), fmt.Sprintf("%q is not a DNS name", name)))
	}
	return errors.Join(bad...)
}

func demand(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}
