// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package service starts the agent of the host's firewall in its privileged pod.
package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall"
	"github.com/opcrew/opcrew/internal/agents/hostfirewall/firewalld"
	"github.com/opcrew/opcrew/internal/agents/hostfirewall/ufw"
	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/agents/shared/hostns"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// waitTime is the time between two looks for the directory with the orders.
const waitTime = 2 * time.Second

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
	state, err := await(ctx, filepath.Join(o.Proc, "1/root"), clock.RealClock{})
	if state == nil {
		return err
	}
	defer state.Close()
	dir := filepath.Join("/proc/self/fd", strconv.Itoa(int(state.Fd())))
	run := func(ctx context.Context, args ...string) (string, error) { return hostns.Output(ctx, o.Proc, args...) }
	k := &hostfirewall.Keeper{
		Dir: dir,
		Tools: []hostfirewall.Tool{
			&firewalld.Tool{Run: run, Absent: hostns.ErrNoProgram},
			&ufw.Tool{Run: run, Absent: hostns.ErrNoProgram, Doubt: ufw.Doubt{Path: filepath.Join(dir, nodefirewall.HostDoubtFile)}},
		},
		Clock: clock.RealClock{}, Log: log,
	}
	k.Run(ctx)
	return nil
}

// await opens the directory with the orders when the firewall agent of the node has it. It returns nil if the context
// ends before.
func await(ctx context.Context, root string, clock clock.Clock) (*os.File, error) {
	for {
		dir, err := openIn(root, nodefirewall.StateDir)
		if !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-clock.After(waitTime):
		}
	}
}

// openIn opens a directory of the host. Absolute symbolic links in its path are those of the host, too.
func openIn(root, path string) (*os.File, error) {
	base, err := os.Open(root)
	if err != nil {
		return nil, fmt.Errorf("open the root directory of the host, which requires hostPID and a privileged container: %w", err)
	}
	defer base.Close()
	fd, err := unix.Openat2(int(base.Fd()), path, &unix.OpenHow{Flags: unix.O_DIRECTORY | unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if err != nil {
		return nil, fmt.Errorf("open %s of the host: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}
