// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisping is the liveness probe of a Redis server. Every response proves that the server is alive, even an
// error because the server is loading its data or requires a password.
package redisping

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/agents/shared/resp"
)

const (
	subcommand = "redis-ping"
	maxPort    = 1<<16 - 1
)

// Options holds the settings from the command line.
type Options struct {
	Port    int // port of the server in this pod
	Timeout time.Duration
}

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Options{Timeout: 4 * time.Second}
	err := flags.Parse(subcommand, args, out, func(set *flag.FlagSet) {
		set.IntVar(&o.Port, "port", 0, "`port` of the server")
		set.DurationVar(&o.Timeout, "timeout", o.Timeout, "how long the server may take to respond")
	})
	switch {
	case err != nil:
		return o, err
	case o.Port < 1 || o.Port > maxPort:
		return o, fmt.Errorf("--port must be 1 to %d", maxPort)
	case o.Timeout <= 0:
		return o, errors.New("--timeout must be above zero")
	}
	return o, nil
}

// Run returns an error if the server does not respond in time. An error response counts as a response, because only a
// working server sends one.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	conn, err := resp.Dial(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Do(ctx, "PING")
	if _, refused := errors.AsType[resp.Error](err); refused {
		return nil
	}
	return err
}
