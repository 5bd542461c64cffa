// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	gopath "path"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// switchUnits disables each enabled unit whose [Install] section changes before the change, and enables it afterwards.
// Otherwise the links of the old section would stay for ever.
func (b *builder) switchUnits() {
	for _, name := range b.switching() {
		key := ledger.Key{Kind: ledger.Unit, Name: name}
		found := b.facts.States[key]
		if found.Value != units.Enabled || b.find(key) != nil {
			continue
		}
		disabled := ledger.State{Value: units.Disabled}
		if b.vanishes(name) {
			b.steps = append(b.steps, Step{Do: Set, Key: key, From: found, To: disabled})
			continue
		}
		_, wanted := b.items[key]
		r, known := b.done[key]
		if !known {
			r = ledger.Record{Key: key, Before: found, Written: found, Undeclared: !wanted}
		}
		b.begin(r, found, Step{Do: Set, Key: key, From: found, To: disabled})
		b.steps = append(b.steps, Step{Do: Set, Key: key, From: disabled, To: found, Restore: !wanted})
	}
}

// switching returns the units for which a step changes [Install] settings.
func (b *builder) switching() []string {
	names := map[string]bool{}
	for _, s := range b.steps {
		if name, is := unitOf(s.Key); is && s.Do == Set && b.changesInstall(s) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// changesInstall compares only what is known: for a step that restores the original, whether there are settings now.
func (b *builder) changesInstall(s Step) bool {
	now := b.facts.Installs[s.Name]
	if s.Restore || s.To.Type != hostfs.File {
		return now != ""
	}
	return now != units.Install(string(s.Content))
}

// vanishes reports whether a unit has no file after the steps.
func (b *builder) vanishes(name string) bool {
	s := b.find(path(gopath.Join(hostconfig.UnitDirectory, name)))
	return s != nil && isAbsent(s.To) && !b.facts.Vendor[name]
}

// isGone reports whether the unit of a record no longer exists, so that there is nothing to restore.
func (b *builder) isGone(r ledger.Record) bool {
	return r.Kind == ledger.Unit && b.facts.Words[r.Name] == units.NotFound && b.find(path(gopath.Join(hostconfig.UnitDirectory, r.Name))) == nil
}

// unitOf returns the unit to which a unit file or drop-in belongs.
func unitOf(key ledger.Key) (string, bool) {
	below, is := strings.CutPrefix(key.Name, hostconfig.UnitDirectory+"/")
	if !is || key.Kind != ledger.Path {
		return "", false
	}
	if folder, _, isDropIn := strings.Cut(below, "/"); isDropIn {
		below, is = strings.CutSuffix(folder, ".d")
	}
	return below, is && hostconfig.IsUnit(below)
}
