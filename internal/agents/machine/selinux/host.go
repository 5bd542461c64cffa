// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package selinux

import (
	"fmt"
	"strings"
)

const program = "restorecon"

// Host is what a host has for labels.
type Host struct {
	// Enabled is set if SELinux is enabled.
	Enabled bool
	// Program is the path of restorecon; empty if the host does not have it.
	Program string
}

// mostNamed is how many paths a message names, because reports are short.
const mostNamed = 3

// Missing says what to do about paths whose labels cannot be set, because the host has no restorecon.
func Missing(paths []string) string {
	named, more := paths, ""
	if len(paths) > mostNamed {
		named, more = paths[:mostNamed], fmt.Sprintf(" and %d other paths", len(paths)-mostNamed)
	}
	return fmt.Sprintf("SELinux is enabled, but the host has no program restorecon, so the labels of new files may be wrong: "+
		"install the program (package policycoreutils), and run restorecon for %s%s", strings.Join(named, ", "), more)
}
