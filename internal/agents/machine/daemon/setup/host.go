// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/shared/hostns"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	binary = "opcrew-machine"
	// usual holds the binary, and other if /usr cannot be changed.
	usual = "/usr/local/lib/opcrew"
	other = "/var/lib/opcrew/bin"

	unitFile   = hostconfig.UnitDirectory + "/" + machineorder.Unit
	publicDir  = 0o755
	publicFile = 0o644
	secretFile = 0o600
)

// host is the host on which the agent is installed.
type host struct {
	fs *hostfs.FS
	// run runs a program on the host. self is set if it is this program.
	run func(ctx context.Context, self bool, args ...string) error
	// program is the content of this program.
	program func() ([]byte, error)
	log     *slog.Logger
}

func open(o Options, log *slog.Logger) (*host, *hostfs.Root, error) {
	root, err := hostfs.OpenRoot(o.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("open the root of the host: %w", err)
	}
	run := func(ctx context.Context, self bool, args ...string) error { return runOnHost(ctx, o.Proc, self, args) }
	program := func() ([]byte, error) { return os.ReadFile("/proc/self/exe") }
	return &host{hostfs.New(root), run, program, log}, root, nil
}

// runOnHost runs this program through an open file, because the host may not have the binary.
func runOnHost(ctx context.Context, proc string, self bool, args []string) error {
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer program.Close()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "/usr/bin/env", args...)
	if self {
		cmd = exec.CommandContext(ctx, "/proc/self/fd/3", args...)
	}
	cmd.Env = hostns.Environ()
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &out, &out, []*os.File{program}
	if self { // it logs what it did, and what stays
		cmd.Stderr = io.MultiWriter(&out, os.Stderr)
	}
	err = hostns.Start(proc, cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("%v on the host: %w: %s", args, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

func (h *host) systemctl(ctx context.Context, args ...string) error {
	return h.run(ctx, false, append([]string{"systemctl", "--no-pager", "--no-ask-password"}, args...)...)
}

// write replaces a file, unless it has the content and the mode already.
func (h *host) write(p string, content []byte, mode uint32, label string) error {
	want := hostfs.Entry{Type: hostfs.File, Mode: mode, Hash: hostfs.Hash(content), Label: label}
	if found, err := h.fs.Read(p); err == nil && found.Same(want) {
		return nil
	}
	return h.fs.WriteFile(p, content, want)
}

// makeDir creates a directory with its parents, all of which everyone can enter.
func (h *host) makeDir(p string) error {
	found, err := h.fs.Read(p)
	if err != nil || found.Type == hostfs.Directory {
		return err
	}
	if err := h.makeDir(path.Dir(p)); err != nil {
		return err
	}
	return h.fs.MakeDirectory(p, hostfs.Entry{Type: hostfs.Directory, Mode: publicDir})
}

// removeAll removes a directory with everything in it. Links are removed, and not followed.
func (h *host) removeAll(p string) error {
	found, err := h.fs.Read(p)
	if err != nil {
		return err
	}
	var errs []error
	if found.Type == hostfs.Directory {
		names, err := h.fs.Names(p)
		errs = append(errs, err)
		for _, name := range names {
			errs = append(errs, h.removeAll(path.Join(p, name)))
		}
	}
	return errors.Join(append(errs, h.fs.Remove(p))...)
}
