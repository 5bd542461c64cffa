// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	gopath "path"
	"slices"

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
