// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"errors"
	"flag"
	"io"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

// Options holds the settings from the command line.
type Options struct {
	// Order is the file with the order (the description of the command), Secrets the directory with the mounted
	// Secret, and Result the file for the result.
	Order, Secrets, Result string
}

const subcommand = "run-over-ssh"

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	var o Options
	if err := flags.Parse(subcommand, args, out, o.bind); err != nil {
		return o, err
	}
	if o.Order == "" || o.Result == "" {
		return o, errors.New("--order and --result must be set")
	}
	return o, nil
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.Order, "order", "/etc/opcrew/order/order.json", "`file` of the order")
	set.StringVar(&o.Secrets, "secrets", "/etc/opcrew/secrets", "`directory` with the private key, the host keys, and the values of variables")
	set.StringVar(&o.Result, "result", "/dev/termination-log", "`file` to which the result is written")
}
