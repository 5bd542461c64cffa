// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Binary is a program that an add-on runs, built by `go install` from its own
// module at a fixed version.
type Binary struct {
	Name    string
	Package string
	Version string
}

// Binaries are the programs that must be in the folder of binaries before `up`.
func Binaries() []Binary {
	return []Binary{
		{"coredns", "github.com/coredns/coredns", "v1.15.0"},
		{"metrics-server", "sigs.k8s.io/metrics-server/cmd/metrics-server", "v0.9.0"},
		{"local-path-provisioner", "github.com/rancher/local-path-provisioner", "v0.0.30"},
	}
}

// Build installs those binaries that the folder lacks or has in another
// version. One after the other: each takes all processors for minutes.
func Build(ctx context.Context, dir string, progress io.Writer) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, binary := range Binaries() {
		if binary.current(dir) {
			continue
		}
		fmt.Fprintf(progress, "building %s %s (a few minutes, once)\n", binary.Name, binary.Version)
		if err := binary.install(ctx, dir, progress); err != nil {
			return fmt.Errorf("build %s: %w", binary.Name, err)
		}
	}
	return nil
}

// current tells whether the folder has that version: Go writes it into what it
// installs.
func (b Binary) current(dir string) bool {
	info, err := buildinfo.ReadFile(filepath.Join(dir, b.Name))
	return err == nil && info.Path == b.Package && info.Main.Version == b.Version
}

func (b Binary) install(ctx context.Context, dir string, progress io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", "install", "-trimpath", "-ldflags=-s -w", b.Package+"@"+b.Version)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+dir)
	cmd.Stdout, cmd.Stderr = progress, progress
	return cmd.Run()
}
