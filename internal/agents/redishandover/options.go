// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

const (
	subcommand = "redis-handover"
	maxPort    = 1<<16 - 1
)

// Options holds the settings from the command line.
type Options struct {
	Port    int    // port of the server in this pod
	Service string // name of the headless Service with the addresses of the cluster's pods
	Secrets string
	Timeout time.Duration
	// patience is how long to wait for the operator while slots are being moved; 0 means half of Timeout.
	patience time.Duration
}

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Options{Secrets: "/secrets", Timeout: 40 * time.Second}
	err := flags.Parse(subcommand, args, out, func(set *flag.FlagSet) {
		set.IntVar(&o.Port, "port", 0, "`port` of the server that is about to stop")
		set.StringVar(&o.Service, "service", "", "`name` of the headless Service of the cluster's pods")
		set.StringVar(&o.Secrets, "secrets", o.Secrets, "`directory` with system/password")
		set.DurationVar(&o.Timeout, "timeout", o.Timeout, "time limit for the whole handover")
	})
	switch {
	case err != nil:
		return o, err
	case o.Port < 1 || o.Port > maxPort:
		return o, fmt.Errorf("--port must be 1 to %d", maxPort)
	case o.Service == "":
		return o, errors.New("--service must be set")
	case o.Timeout <= 0:
		return o, errors.New("--timeout must be above zero")
	}
	return o, nil
}
