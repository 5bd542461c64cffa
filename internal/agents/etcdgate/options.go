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

// Options are what the flags say.
type Options struct {
	Cluster string // its UID, which no other cluster of the same name has
	Member  string
	DataDir string // as etcd is told
	Marker  string // a file on the same volume as DataDir, outside of it
	Start   string // the file with what the operator allows
	Latch   string // a file of the pod's own, on no volume of data: see latch
	// Termination is the file that the kubelet takes the container's message from.
	Termination string
	Listen      string // address of the probes
	// Metrics is the URL of etcd's metrics listener. If it is empty, as for etcd before 3.3, all
	// that is looked at is whether Client, the address of clients, takes connections.
	Metrics, Client string
	// ByLeader has a member be ready when it says among its metrics that it has a leader, and
	// /health not be asked: see byLeader.
	ByLeader bool
	Command  []string
}

// Defaults are the options of an empty command line.
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

// ParseFlags reads a command line. It prints to out what --help asks for; an error
// is for the caller to print.
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
	set.StringVar(&o.DataDir, "data-dir", o.DataDir, "`directory` that etcd keeps its data in")
	set.StringVar(&o.Marker, "marker", o.Marker, "`file` beside it that says whose volume this is")
	set.StringVar(&o.Start, "start-file", o.Start, "`file` that says what is allowed: bootstrap, join or established, and the id of the member")
	set.StringVar(&o.Latch, "latch", o.Latch, "`file` of the pod's own that says that the member has been part of its cluster")
	set.StringVar(&o.Termination, "termination-log", o.Termination, "`file` that a refusal is told in")
	set.StringVar(&o.Listen, "listen", o.Listen, "`address` of /readyz and /livez")
	set.StringVar(&o.Metrics, "metrics-url", o.Metrics, "`URL` of etcd's metrics listener; empty: it has none")
	set.BoolVar(&o.ByLeader, "ready-by-leader", false, "have etcd be ready when it has a leader, and do not ask its /health, which before 3.5 writes to the log")
	set.StringVar(&o.Client, "client-address", o.Client, "`address` that shows by taking connections that an etcd without metrics listener is ready")
}

func (o *Options) validate() error {
	return errors.Join(
		demand(o.Cluster != "", "--cluster is needed: the UID of the cluster"),
		demand(o.Member != "", "--member is needed: the name of the member"),
		demand(len(o.Command) > 0, "the command line of etcd is needed behind --"),
		demand(filepath.IsAbs(o.DataDir) && filepath.IsAbs(o.Marker), "--data-dir and --marker are absolute"),
		demand(!within(o.Marker, o.DataDir), "--marker is outside of --data-dir, which is etcd's"),
		demand(filepath.IsAbs(o.Latch) && !within(o.Latch, filepath.Dir(o.Marker)), "--latch is absolute, and not on the volume of --marker"),
		demand(o.Start != "" && o.Termination != "", "--start-file and --termination-log are needed"),
		demandAddress("--listen", o.Listen),
		demandAddress("--client-address", o.Client),
		demand(o.Metrics == "" || isURL(o.Metrics), "--metrics-url is http://HOST:PORT"),
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
