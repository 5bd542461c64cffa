// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

const subcommand = "redis-server"

// Place is one of the two places that a pod has for servers.
type Place string

// The places.
const (
	Home  Place = "home"  // the primary of the pod's own shard
	Guest Place = "guest" // the replica of its neighbour's
)

const (
	// BusOffset is how far above the port of clients that of the cluster bus is: the servers'
	// own default.
	BusOffset = 10000
	maxPort   = 1<<16 - 1 - BusOffset
)

// Options are what the flags say.
type Options struct {
	Place   Place
	Port    int
	Data    string // the volume of both places
	Secrets string // has the folders that package redissecrets names
	Config  string // the file that the configuration is written to; it has a password
	Extra   string // a file with directives of the user; empty: none
	// AnnounceIP and AnnounceHostname are what others are asked to reach this server by.
	AnnounceIP, AnnounceHostname string
	MemoryLimit                  int64 // of the container, in bytes; 0: none
}

// Defaults are the options of an empty command line.
func Defaults() Options {
	return Options{Data: "/data", Secrets: "/secrets", Config: "/var/opcrew/redis.conf"}
}

// Folder is where the place keeps its data.
func (o *Options) Folder() string { return filepath.Join(o.Data, string(o.Place)) }

// ParseFlags reads a command line. It prints to out what --help asks for; an error
// is for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Defaults()
	if err := flags.Parse(subcommand, args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar((*string)(&o.Place), "place", "", "`place` in the pod: home or guest")
	set.IntVar(&o.Port, "port", 0, "`port` of clients; that of the bus is 10000 above it")
	set.StringVar(&o.Data, "data", o.Data, "`directory` that has a folder for each place")
	set.StringVar(&o.Secrets, "secrets", o.Secrets, "`directory` with users/username, system/password and system/accepted")
	set.StringVar(&o.Config, "config", o.Config, "`file` to write the configuration to")
	set.StringVar(&o.Extra, "extra-config", "", "`file` with more directives of the configuration")
	set.StringVar(&o.AnnounceIP, "announce-ip", "", "`address` of the pod")
	set.StringVar(&o.AnnounceHostname, "announce-hostname", "", "`name` of the pod in DNS")
	set.Int64Var(&o.MemoryLimit, "memory-limit", 0, "limit of the container in `bytes`, three quarters of which are for data; 0: none")
}

func (o *Options) validate() error {
	return errors.Join(
		demand(o.Place == Home || o.Place == Guest, "--place is home or guest"),
		demand(o.Port > 0 && o.Port <= maxPort, fmt.Sprintf("--port is 1 to %d", maxPort)),
		demand(filepath.IsAbs(o.Data) && filepath.IsAbs(o.Config) && filepath.IsAbs(o.Secrets), "--data, --secrets and --config are absolute"),
		demand(net.ParseIP(o.AnnounceIP) != nil, "--announce-ip is an IP address"),
		demand(!strings.ContainsFunc(o.AnnounceHostname, notInHostname), "--announce-hostname has letters, digits, dashes and dots only"),
		demand(o.MemoryLimit >= 0, "--memory-limit is not negative"),
	)
}

func notInHostname(r rune) bool {
	return r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func demand(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}
