// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import (
	"errors"
	"flag"
	"io"
	"path/filepath"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

// Options are what the flags say.
type Options struct {
	// Order is the file of the order, Secrets the directory of its Secrets, Result the file
	// that the result goes to; all three are the container's.
	Order, Secrets, Result string
	// Markers is a directory of the host.
	Markers string
	// Proc is where the processes of the host are; empty if this is the host.
	Proc string
	// Stage is which of the three processes this is; empty: the runner.
	Stage string
}

const (
	subcommand = "run-on-host"
	hostStage  = "host"
	shimStage  = "shim"
)

// stageArgs are the arguments that start one of the other processes.
func stageArgs(stage string) []string { return []string{subcommand, "--stage", stage} }

// ParseFlags reads a command line. It prints to out what --help asks for; an error
// is for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	var o Options
	if err := flags.Parse(subcommand, args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.Order, "order", "/etc/opcrew/order/order.json", "`file` of the order")
	set.StringVar(&o.Secrets, "secrets", "/etc/opcrew/secrets", "`directory` of mounted Secrets that the order names files of")
	set.StringVar(&o.Result, "result", "/dev/termination-log", "`file` that the result goes to")
	set.StringVar(&o.Markers, "markers", "/var/lib/opcrew/activities", "`directory` of the host that remembers what was begun")
	set.StringVar(&o.Proc, "proc", "/proc", "`directory` with the processes of the host; empty if it is not another's than ours")
	set.StringVar(&o.Stage, "stage", "", "which process of the command this is; it starts the others itself")
}

func (o *Options) validate() error {
	switch {
	case o.Order == "" || o.Result == "":
		return errors.New("--order and --result are needed")
	case !filepath.IsAbs(o.Markers):
		return errors.New("--markers is absolute")
	case !slices.Contains([]string{"", hostStage, shimStage}, o.Stage):
		return errors.New("--stage is host or shim")
	}
	return nil
}
