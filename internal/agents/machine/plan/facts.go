// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/selinux"
	"github.com/opcrew/opcrew/internal/agents/machine/users"
)

// Facts is what was observed on the host.
type Facts struct {
	// States has the state of every key of the ledger, and of every key that Keys returns. The value of a unit is
	// units.Enabled or units.Disabled.
	States map[ledger.Key]ledger.State
	// Unreadable has the errors of the keys whose state could not be observed.
	Unreadable map[ledger.Key]error
	// Originals has the content that a file had before opcrew changed it, for files to which the configuration appends.
	Originals map[string][]byte
	// Names has the entries of the directories in whose place the configuration declares something else.
	Names map[string][]string
	// Words has the state of each unit in systemctl's words.
	Words map[string]string
	// Installs has the [Install] settings of each unit file and drop-in that exists, by its path. For a unit file that
	// does not exist, they are those of the distribution's file.
	Installs map[string]string
	// Vendor has the units for which the distribution has a file.
	Vendor   map[string]bool
	Accounts users.Accounts
	Boot     bootargs.Host
	SELinux  selinux.Host
}
