// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
)

// addReloads adds what makes the host notice the changes. A pending record can mean that a crash came between a change
// and its reload.
func (b *builder) addReloads() {
	keys := []ledger.Key{}
	for _, s := range b.steps {
		keys = append(keys, s.Key)
	}
	for key, r := range b.ledger.Records {
		if r.Pending {
			keys = append(keys, key)
		}
	}
	if slices.ContainsFunc(keys, isSystemd) {
		b.steps = append(b.steps, Step{Do: DaemonReload})
	}
	if slices.Contains(keys, path(bootargs.GrubFile)) {
		b.steps = append(b.steps, Step{Do: UpdateBoot})
	}
}

// isSystemd reports whether systemd reads a path only when it is reloaded.
func isSystemd(key ledger.Key) bool {
	return key.Kind == ledger.Unit || key.Kind == ledger.Path &&
		(strings.HasPrefix(key.Name, "/etc/systemd/") || strings.HasPrefix(key.Name, "/usr/lib/systemd/") || strings.HasPrefix(key.Name, "/usr/local/lib/systemd/"))
}

// The places of steps in a plan. Removals come after all writes of files, so that a configuration that moves a file
// never leaves the host without it, and before the reload, which must not see removed units. Labels come after all files,
// and before the reload, because systemd may not read a file with another label.
const (
	disableUnits = iota
	clearTheWay
	makeDirectories
	writeFiles
	writeLinks
	changeUsers
	restoreFiles
	writeHardLinks
	setLabels
	reloadSystemd
	enableUnits
	setSysctls
	changeBootEntries
	updateBoot
)

func (b *builder) sort() {
	slices.SortStableFunc(b.steps, func(x, y Step) int {
		place := b.place(x)
		order := strings.Compare(x.Name, y.Name)
		if place == clearTheWay || place == restoreFiles { // what is in a directory goes before the directory
			order = -order
		}
		return cmp.Or(cmp.Compare(place, b.place(y)), order)
	})
}

func (b *builder) place(s Step) int {
	switch {
	case s.Do == SetLabels:
		return setLabels
	case s.Do == DaemonReload:
		return reloadSystemd
	case s.Do == UpdateBoot:
		return updateBoot
	case s.Kind == ledger.Unit && s.To.Value == units.Enabled:
		return enableUnits
	case s.Kind == ledger.Path:
		return b.placePath(s)
	}
	return map[ledger.Kind]int{
		ledger.Unit: disableUnits, ledger.Sysctl: setSysctls, ledger.Boot: changeBootEntries,
		ledger.Keys: changeUsers, ledger.Password: changeUsers,
	}[s.Kind]
}

func (b *builder) placePath(s Step) int {
	switch {
	case s.To.Type == hostfs.Directory:
		return makeDirectories
	case s.Restore && b.isInTheWay(s.Name):
		return clearTheWay
	case s.Restore:
		return restoreFiles
	case s.To.Type == ledger.HardLink:
		return writeHardLinks
	case s.To.Type == hostfs.Link:
		return writeLinks
	}
	return writeFiles
}

// isInTheWay reports whether a path is below one that is declared as a file or link.
func (b *builder) isInTheWay(name string) bool {
	for i, c := range name {
		if c != '/' || i == 0 {
			continue
		}
		if item, declared := b.items[path(name[:i])]; declared && item.State.Type != hostfs.Directory {
			return true
		}
	}
	return false
}
