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

// Place identifies one of the two servers of a pod: Home or Guest.
type Place string

// Values of Place, one for each of the two servers of a pod.
const (
	Home  Place = "home"  // primary of the pod's own shard
	Guest Place = "guest" // replica of the shard of a neighbour pod
)

const (
	// BusOffset is the difference between the port of the cluster bus and the client port. It is the default of Redis.
	BusOffset = 10000
	maxPort   = 1<<16 - 1 - BusOffset
)

// Options holds the settings from the command line.
type Options struct {
	Place   Place
	Port    int
	Data    string // directory of the volume, which both servers share
	Secrets string // directory with the files that package redissecrets reads
	Config  string // file for the configuration, which contains a password
	Extra   string // file with directives of the user; empty if there are none
	// AnnounceIP and AnnounceHostname are the address and the name under which other servers and clients reach this
	// server.
	AnnounceIP, AnnounceHostname string
	MemoryLimit                  int64 // memory limit of the container in bytes; 0 means no limit
}

// Defaults returns the options of an empty command line.
func Defaults() Options {
	return Options{Data: "/data", Secrets: "/secrets", Config: "/var/opcrew/redis.conf"}
}

// Folder returns the data directory of the server.
func (o *Options) Folder() string { return filepath.Join(o.Data, string(o.Place)) }

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Defaults()
	if err := flags.Parse(subcommand, args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar((*string)(&o.Place), "place", "", "`place` of the server in its pod: home (primary of the pod's own shard) or guest (replica of the neighbour's shard)")
	set.IntVar(&o.Port, "port", 0, "`port` for clients; the port of the cluster bus is 10000 higher")
	set.StringVar(&o.Data, "data", o.Data, "data `directory` with a folder for each place")
	set.StringVar(&o.Secrets, "secrets", o.Secrets, "`directory` with users/username, system/password and system/accepted")
	set.StringVar(&o.Config, "config", o.Config, "`file` to write the configuration to")
	set.StringVar(&o.Extra, "extra-config", "", "`file` with configuration directives of the user")
	set.StringVar(&o.AnnounceIP, "announce-ip", "", "`address` of the pod")
	set.StringVar(&o.AnnounceHostname, "announce-hostname", "", "DNS `name` of the pod")
	set.Int64Var(&o.MemoryLimit, "memory-limit", 0, "memory limit of the container in `bytes`, of which three quarters are for data; 0 means no limit")
}

func (o *Options) validate() error {
	return errors.Join(
		demand(o.Place == Home || o.Place == Guest, "--place must be home or guest"),
		demand(o.Port > 0 && o.Port <= maxPort, fmt.Sprintf("--port must be 1 to %d", maxPort)),
		demand(filepath.IsAbs(o.Data) && filepath.IsAbs(o.Config) && filepath.IsAbs(o.Secrets), "--data, --secrets and --config must be absolute paths"),
		demand(net.ParseIP(o.AnnounceIP) != nil, "--announce-ip must be an IP address"),
		demand(!strings.ContainsFunc(o.AnnounceHostname, notInHostname), "--announce-hostname must contain only letters, digits, dashes and dots"),
		demand(o.MemoryLimit >= 0, "--memory-limit must not be negative"),
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
