// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package service starts the agent of the host's firewall in its privileged pod.
package service

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall"
	"github.com/opcrew/opcrew/internal/agents/hostfirewall/firewalld"
	"github.com/opcrew/opcrew/internal/agents/hostfirewall/ufw"
	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/agents/shared/hostns"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Options are the flags of the agent.
type Options struct{ Proc string }

// Parse parses the flags.
func Parse(args []string, out io.Writer) (Options, error) {
	var o Options
	err := flags.Parse("host-firewall", args, out, func(set *flag.FlagSet) {
		set.StringVar(&o.Proc, "proc", "/proc", "the proc file system, in which process 1 is that of the host")
	})
	return o, err
}

// Run carries out orders until the context ends.
func Run(ctx context.Context, o Options, log *slog.Logger) error {
	run := func(ctx context.Context, args ...string) (string, error) { return hostns.Output(ctx, o.Proc, args...) }
	if _, err := run(ctx, "true"); err != nil {
		return fmt.Errorf("run a program on the host: %w", err)
	}
	k := &hostfirewall.Keeper{
		Dir: filepath.Join(o.Proc, "1/root", nodefirewall.StateDir),
		Tools: []hostfirewall.Tool{
			&firewalld.Tool{Run: run, Absent: hostns.ErrNoProgram},
			&ufw.Tool{Run: run, Absent: hostns.ErrNoProgram},
		},
		Clock: clock.RealClock{}, Log: log,
	}
	k.Run(ctx)
	return nil
}
