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

// Options holds the settings from the command line.
type Options struct {
	// Order is the file with the order (the description of the command), Secrets the directory with the mounted
	// Secrets, and Result the file for the result. All three are paths in the container.
	Order, Secrets, Result string
	// Markers is the directory on the host for markers, the files that record started runs.
	Markers string
	// Proc is the directory with the processes of the host. If it is empty, the command runs in this container.
	Proc string
	// Stage selects one of the three processes of a run; empty means the runner, the process in the container.
	Stage string
}

const (
	subcommand = "run-on-host"
	hostStage  = "host"
	shimStage  = "shim"
)

// stageArgs returns the arguments with which this program starts another one of the three processes of a run.
func stageArgs(stage string) []string { return []string{subcommand, "--stage", stage} }

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	var o Options
	if err := flags.Parse(subcommand, args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.Order, "order", "/etc/opcrew/order/order.json", "`file` of the order")
	set.StringVar(&o.Secrets, "secrets", "/etc/opcrew/secrets", "`directory` of mounted Secrets whose files the order names")
	set.StringVar(&o.Result, "result", "/dev/termination-log", "`file` to which the result is written")
	set.StringVar(&o.Markers, "markers", "/var/lib/opcrew/activities", "`directory` on the host with the markers of runs")
	set.StringVar(&o.Proc, "proc", "/proc", "`directory` with the processes of the host; empty means to run the command in this container")
	set.StringVar(&o.Stage, "stage", "", "which of the internal processes this is: host or shim; the program sets this flag itself")
}

func (o *Options) validate() error {
	switch {
	case o.Order == "" || o.Result == "":
		return errors.New("--order and --result must be set")
	case !filepath.IsAbs(o.Markers):
		return errors.New("--markers must be an absolute path")
	case !slices.Contains([]string{"", hostStage, shimStage}, o.Stage):
		return errors.New("--stage must be host or shim")
	}
	return nil
}
