// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

// Kind is what a record is about.
type Kind string

// The kinds of records. The name of a record is a path, except for units, sysctls and passwords.
const (
	Path     Kind = "path"
	Unit     Kind = "unit"     // whether a unit is enabled, by its name
	Sysctl   Kind = "sysctl"   // a kernel parameter, by its path below /proc/sys
	Keys     Kind = "keys"     // opcrew's block in a file of SSH keys
	Password Kind = "password" // a hash in /etc/shadow, by the name of the user
	Boot     Kind = "boot"     // the kernel command line in a file of the boot loader
)

// HardLink is the type of a path that is a second name of the file at Target.
const HardLink hostfs.Type = "hardlink"

// Key identifies a record.
type Key struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// State is the state of what a record is about. Paths have an Entry; the other kinds have a Value, and the Entry of the
// file that contains it. The state of a file without a hash says nothing about the content, which is not opcrew's.
type State struct {
	hostfs.Entry
	Value string `json:"value,omitempty"`
}

// Record is what opcrew changed.
type Record struct {
	Key
	Before  State `json:"before"`
	Written State `json:"written"`
	// Pending is set while the change may be incomplete. Previous is the state in which the change found the host.
	Pending  bool  `json:"pending,omitempty"`
	Previous State `json:"previous,omitzero"`
	// Unlabelled is set while the policy of SELinux has still to give a new entry its label.
	Unlabelled bool `json:"unlabelled,omitempty"`
	// Undeclared is set when the configuration no longer declares it, and Before has not been restored yet.
	Undeclared bool `json:"undeclared,omitempty"`
	// Instead is the desired state in whose place the administrator's change was adopted, or the kernel stored another
	// value.
	Instead *State `json:"instead,omitempty"`
}

// Ledger is what opcrew changed on a host.
type Ledger struct {
	// Config is the name of the configuration that was applied completely; empty if there is none.
	Config  string
	Records map[Key]Record
}

// Same reports whether two states are equal for a kind. For a part of a file, only the part counts.
func Same(kind Kind, a, b State) bool {
	if kind != Path {
		return a.Value == b.Value
	}
	if a.Type == hostfs.File && (a.Hash == "" || b.Hash == "") {
		a.Hash, b.Hash = "", ""
	}
	return a.Entry.Same(b.Entry)
}

// Goal returns the state that the host should have: what opcrew wrote, or the original if the record is no longer
// declared.
func (r Record) Goal() State {
	if r.Undeclared {
		return r.Before
	}
	return r.Written
}

// Explains reports whether opcrew can have left the state that is found on the host. If not, it is a change of another
// program or user.
func (r Record) Explains(found State) bool {
	if r.Pending {
		return r.explainsPending(found)
	}
	return Same(r.Kind, found, r.Goal())
}

// explainsPending accepts every state that an incomplete change can leave.
func (r Record) explainsPending(found State) bool {
	states := []State{r.Before, r.Written, r.Previous}
	if slices.ContainsFunc(states, func(s State) bool { return Same(r.Kind, found, s) }) {
		return true
	}
	if r.Kind == Unit || r.Kind == Sysctl { // it may have begun with disabling the unit; the kernel may round a value
		return true
	}
	// A change of type removes the old entry first. A hard link stays at the old content while its target is replaced.
	return r.Kind == Path && (found.Type == hostfs.Absent && r.Goal().Type != r.Previous.Type ||
		found.Type == hostfs.File && r.Previous.Type == HardLink || mixed(found, states))
}

// mixed reports whether each attribute of the found entry is that of one of the states. Owner and mode of an entry
// change one after the other.
func mixed(found State, states []State) bool {
	has := func(equal func(s State) bool) bool { return slices.ContainsFunc(states, equal) }
	return found.Type != hostfs.Absent &&
		has(func(s State) bool {
			return s.Type == found.Type && (s.Hash == found.Hash || s.Hash == "") && s.Target == found.Target
		}) &&
		has(func(s State) bool { return s.Type == found.Type && s.Mode == found.Mode }) &&
		has(func(s State) bool { return s.Type == found.Type && s.UID == found.UID && s.GID == found.GID })
}

// Sorted returns the records in the order of their keys.
func (l Ledger) Sorted() []Record {
	out := make([]Record, 0, len(l.Records))
	for _, r := range l.Records {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return Compare(a.Key, b.Key) })
	return out
}

// Compare orders keys.
func Compare(a, b Key) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) }
