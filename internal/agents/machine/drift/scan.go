// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
)

// Drift is a state that opcrew did not leave.
type Drift struct {
	ledger.Key
	// Want is what opcrew wrote, Found is what the host has now.
	Want, Found ledger.State
	// Undeclared is set if the configuration no longer declares it, so that there is nothing to repair.
	Undeclared bool
}

// Scan returns the drift of the records of a ledger. A key without a state was not observed, and has no drift.
func Scan(l ledger.Ledger, states map[ledger.Key]ledger.State) (out []Drift) {
	for _, r := range l.Sorted() {
		found, observed := states[r.Key]
		if !observed || r.Explains(found) || isKept(r, found) {
			continue
		}
		out = append(out, Drift{r.Key, r.Goal(), found, r.Undeclared})
	}
	return out
}

// isKept reports whether the record is about a directory that opcrew created, and that stays because others use it.
func isKept(r ledger.Record, found ledger.State) bool {
	return r.Undeclared && r.Kind == ledger.Path && found.Type == hostfs.Directory && ledger.Same(r.Kind, found, r.Written)
}

// String says what differs. It shows no contents, because they can be secret.
func (d Drift) String() string { return fmt.Sprintf("%s: %s", d.Name, d.difference()) }

func (d Drift) difference() string {
	switch d.Kind {
	case ledger.Password:
		return "another program or user changed the password"
	case ledger.Keys:
		return "opcrew's block of SSH keys was changed"
	case ledger.Unit, ledger.Sysctl:
		return fmt.Sprintf("it is %s instead of %s", orAbsent(d.Found), orAbsent(d.Want))
	case ledger.Boot:
		return "the kernel arguments were changed"
	}
	return d.pathDifference()
}

func orAbsent(s ledger.State) string {
	if s.Value == "" {
		return string(hostfs.Absent)
	}
	return s.Value
}

func (d Drift) pathDifference() string {
	found, want := d.Found, d.Want
	if found.Type != want.Type {
		return fmt.Sprintf("it is %s instead of %s", found.Type, want.Type)
	}
	var parts []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(found.Hash != want.Hash && want.Hash != "", "the content was changed")
	add(found.Mode != want.Mode, "the mode is %04o instead of %04o", found.Mode, want.Mode)
	add(found.UID != want.UID || found.GID != want.GID, "the owner is %d:%d instead of %d:%d", found.UID, found.GID, want.UID, want.GID)
	add(found.Target != want.Target, "the target is %s instead of %s", found.Target, want.Target)
	return strings.Join(parts, ", ")
}
