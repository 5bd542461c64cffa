// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostos

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// CommandLineFile is the path of the file on a node's disk with the simulated kernel arguments. The node's simulated
// boot loader writes it, and each boot reads it.
const CommandLineFile = "/boot/cmdline.simulated"

// files are the files that every node has in addition to its packages, below their paths on the node.
//
//go:embed all:files
var files embed.FS

// Install unpacks the operating system in the tar file to the empty folder root.
func Install(ctx context.Context, tarFile, root string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "tar", "--extract", "--file", tarFile, "--directory", root,
		"--numeric-owner", "--preserve-permissions", "--xattrs", "--exclude=./dev/*")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("unpack the operating system (remove %s if it is damaged): %w: %s", tarFile, err, strings.TrimSpace(string(out)))
	}
	if err := addFiles(root); err != nil {
		return err
	}
	return mask(root, "console-getty.service", "getty@tty1.service", "getty-static.service")
}

func addFiles(root string) error {
	return fs.WalkDir(files, "files", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, "files/")
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "usr/sbin/") {
			mode = 0o755
		}
		return state.WriteFile(filepath.Join(root, name), data, mode)
	})
}

// mask disables units that a node without a screen cannot run.
func mask(root string, units ...string) error {
	for _, unit := range units {
		err := os.Symlink("/dev/null", filepath.Join(root, "etc/systemd/system", unit))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
