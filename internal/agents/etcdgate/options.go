// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

const subcommand = "run-etcd"

// Options holds the settings from the command line.
type Options struct {
	Cluster string // UID of the cluster, which is unique in contrast to its name
	Member  string
	DataDir string // etcd's data directory
	Marker  string // file that names the owner of the volume; it is on the volume of DataDir, but outside DataDir
	Start   string // start file, in which the operator allows the start
	Latch   string // file that records that the member was part of its cluster; it exists as long as the pod
	// Termination is the file for the container's termination message.
	Termination string
	Listen      string // address that serves the probes
	// Metrics is the URL of etcd's metrics listener. It is empty for etcd before 3.3, which has no such listener. Such
	// a member is ready when Client, the address for clients, accepts connections.
	Metrics, Client string
	// ByLeader makes a member ready when its metrics show that it has a leader, without a request to /health. The
	// method leader explains why.
	ByLeader bool
	Command  []string
}

// Defaults returns the options of an empty command line.
func Defaults() Options {
	return Options{
		DataDir:     "/var/etcd/data",
		Marker:      "/var/etcd/opcrew.json",
		Start:       "/etc/opcrew/start",
		Latch:       "/var/opcrew/part",
		Termination: "/dev/termination-log",
		Listen:      ":2382",
		Metrics:     "http://127.0.0.1:2381",
		Client:      "127.0.0.1:2379",
	}
}

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Defaults()
	command, err := flags.ParseSome(subcommand, args, out, o.bind)
	if err != nil {
		return o, err
	}
	o.Command = command
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.Cluster, "cluster", "", "`UID` of the cluster")
	set.StringVar(&o.Member, "member", "", "`name` of the member")
	set.StringVar(&o.DataDir, "data-dir", o.DataDir, "data `directory` of etcd")
	set.StringVar(&o.Marker, "marker", o.Marker, "`file` next to the data directory that names the member that owns the volume")
	set.StringVar(&o.Start, "start-file", o.Start, "`file` with the operator's permission to start: a start mode (bootstrap, join, restored or established) and the member ID")
	set.StringVar(&o.Latch, "latch", o.Latch, "`file` of the pod that records that the member was part of its cluster")
	set.StringVar(&o.Termination, "termination-log", o.Termination, "`file` for the termination message, which reports why etcd does not run")
	set.StringVar(&o.Listen, "listen", o.Listen, "`address` that serves /readyz and /livez")
	set.StringVar(&o.Metrics, "metrics-url", o.Metrics, "`URL` of etcd's metrics listener; empty if it has none")
	set.BoolVar(&o.ByLeader, "ready-by-leader", false, "report ready when etcd has a leader, without a request to /health, which writes to the log before etcd 3.5")
	set.StringVar(&o.Client, "client-address", o.Client, "`address` for clients; without a metrics listener, etcd is ready when this address accepts connections")
}

func (o *Options) validate() error {
	return errors.Join(
		demand(o.Cluster != "", "--cluster must be set to the UID of the cluster"),
		demand(o.Member != "", "--member must be set to the name of the member"),
		demand(len(o.Command) > 0, "the command line of etcd must follow --"),
		demand(filepath.IsAbs(o.DataDir) && filepath.IsAbs(o.Marker), "--data-dir and --marker must be absolute paths"),
		demand(!within(o.Marker, o.DataDir), "--marker must be outside of --data-dir"),
		demand(filepath.IsAbs(o.Latch) && !within(o.Latch, filepath.Dir(o.Marker)), "--latch must be an absolute path, not on the volume of --marker"),
		demand(o.Start != "" && o.Termination != "", "--start-file and --termination-log must be set"),
		demandAddress("--listen", o.Listen),
		demandAddress("--client-address", o.Client),
		demand(o.Metrics == "" || isURL(o.Metrics), "--metrics-url must be http://HOST:PORT"),
	)
}

func within(path, dir string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(relative)
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "http" && u.Host != "" && u.Path == "" && u.RawQuery == ""
}

func demandAddress(name, text string) error {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func demand(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}
