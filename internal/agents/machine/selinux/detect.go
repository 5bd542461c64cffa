// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package selinux

import (
	"fmt"
	"path"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

// EnforceFile exists while SELinux is enabled, whether it enforces its policy or not.
const EnforceFile = "/sys/fs/selinux/enforce"

// directories are where distributions have restorecon. On many hosts, some of them are links to others.
var directories = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Detect examines a host.
func Detect(fs *hostfs.FS) (Host, error) {
	found, err := fs.Read(EnforceFile)
	if err != nil {
		return Host{}, fmt.Errorf("find out whether SELinux is enabled: %w", err)
	}
	if found.Type == hostfs.Absent {
		return Host{}, nil
	}
	return Host{Enabled: true, Program: find(fs)}, nil
}

// find returns the path of restorecon, which is a link to setfiles on some hosts; empty if the host has none.
func find(fs *hostfs.FS) string {
	for _, dir := range directories {
		p := path.Join(dir, program)
		if found, err := fs.Read(p); err == nil && (found.Type == hostfs.File || found.Type == hostfs.Link) {
			return p
		}
	}
	return ""
}
