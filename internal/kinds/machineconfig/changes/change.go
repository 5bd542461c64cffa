// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"cmp"
	"strings"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Kind is what changes.
type Kind string

// Values of Kind.
const (
	Directory      Kind = "Directory"
	File           Kind = "File"
	Link           Kind = "Link"
	Unit           Kind = "Unit"
	DropIn         Kind = "DropIn"
	SSHKeys        Kind = "SSHKeys"
	Password       Kind = "Password"
	KernelArgument Kind = "KernelArgument"
)

// Action is how something changes.
type Action string

// Values of Action.
const (
	Added   Action = "Added"
	Changed Action = "Changed"
	Removed Action = "Removed"
)

// Change is one difference between two configurations.
type Change struct {
	Kind Kind
	// Name is the path of a directory, file or link; the name of a unit; <unit>/<name> of a drop-in; the name of a
	// user; or the kernel argument.
	Name   string
	Action Action
	// From and To describe what differs, such as "sha256-0123..., mode 0644". From is empty if something is added, and
	// To if something is removed.
	From, To string

	// enabled reports that the new configuration enables the unit.
	enabled bool
}

// unit returns the name of the unit that a change is about.
func (c Change) unit() string {
	name, _, _ := strings.Cut(c.Name, "/")
	return name
}

func compare(a, b Change) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// maxText is the maximum length of a name and of a description in a status, in bytes. Users choose them, and a status
// that is too large cannot be written.
const maxText = 256

// Status returns changes in the form of a pool's status: the first ones, and the number of all.
func Status(all []Change) ([]mcfgv1.Change, int32) {
	var out []mcfgv1.Change
	for _, c := range all[:min(len(all), mcfgv1.MaxChanges)] {
		out = append(out, mcfgv1.Change{Kind: string(c.Kind), Name: cut(c.Name), Action: string(c.Action), From: cut(c.From), To: cut(c.To)})
	}
	return out, int32(len(all))
}

func cut(text string) string { return condition.Cut(text, maxText) }
