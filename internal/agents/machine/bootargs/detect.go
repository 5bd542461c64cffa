// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package bootargs

import (
	"path"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

const maxEntry = 1 << 20

// Detect finds the boot loader of a host, and reads its entries.
func Detect(fs *hostfs.FS) (Host, error) {
	if allFiles(fs, "/etc/default/grub", "/usr/sbin/update-grub") {
		return Host{Loader: Grub}, nil
	}
	for _, boot := range []string{"/efi", "/boot/efi", "/boot"} {
		if allFiles(fs, path.Join(boot, "loader/loader.conf")) {
			return entries(fs, path.Join(boot, "loader/entries"))
		}
	}
	return Host{}, nil
}

// allFiles reports whether all paths are files. A path that cannot be read, for example because of a link, is none.
func allFiles(fs *hostfs.FS, paths ...string) bool {
	for _, p := range paths {
		if found, err := fs.Read(p); err != nil || found.Type != hostfs.File {
			return false
		}
	}
	return true
}

func entries(fs *hostfs.FS, dir string) (Host, error) {
	h := Host{Loader: SystemdBoot, Files: map[string]string{}}
	names, err := fs.Names(dir)
	if err != nil {
		return Host{}, err
	}
	paths := []string{CommandLineFile}
	for _, name := range names {
		if strings.HasSuffix(name, ".conf") {
			paths = append(paths, path.Join(dir, name))
		}
	}
	for _, p := range paths {
		found, err := fs.Read(p)
		if err != nil || found.Type != hostfs.File {
			continue
		}
		content, _, err := fs.ReadFile(p, maxEntry)
		if err != nil {
			return Host{}, err
		}
		h.Files[p] = string(content)
	}
	return h, nil
}
