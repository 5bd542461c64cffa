// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// unenabled are states in which systemd starts a unit without links, so that there is nothing to enable.
var unenabled = []string{"static", "indirect", "generated", "transient", "alias"}

func (t *translator) addUnits() {
	for _, u := range t.config.Units {
		t.addUnitFile(u)
		for _, d := range u.DropIns {
			t.add(textFile(u.DropInPath(d.Name), d.Contents))
		}
		t.addEnablement(u)
	}
}

// addUnitFile masks a unit by a link, in whose presence systemd ignores the contents.
func (t *translator) addUnitFile(u hostconfig.Unit) {
	mask := ledger.State{Entry: hostfs.Entry{Type: hostfs.Link, Target: hostconfig.MaskTarget}}
	original := t.original(path(u.Path()))
	switch {
	case u.Mask != nil && *u.Mask:
		t.add(Item{Key: path(u.Path()), State: mask, Overwrite: true})
	case u.Contents != nil:
		t.add(textFile(u.Path(), *u.Contents))
	case u.Mask != nil && original.Type == hostfs.Link && original.Target == hostconfig.MaskTarget:
		t.add(Item{Key: path(u.Path()), State: ledger.State{Entry: hostfs.Entry{Type: hostfs.Absent}}, Overwrite: true})
	}
}

// addEnablement adds nothing for a unit that cannot have links, because it has no [Install] section. A masked unit is
// also disabled, because systemctl neither enables nor disables it until the mask goes.
func (t *translator) addEnablement(u hostconfig.Unit) {
	key := ledger.Key{Kind: ledger.Unit, Name: u.Name}
	switch {
	case u.Mask != nil && *u.Mask, u.Enabled != nil && !*u.Enabled:
		t.add(Item{Key: key, State: ledger.State{Value: units.Disabled}})
	case u.Enabled == nil:
	case u.Contents != nil && hasInstall(u):
		t.add(Item{Key: key, State: ledger.State{Value: units.Enabled}})
	case u.Contents == nil && t.canEnable(u):
		t.add(Item{Key: key, State: ledger.State{Value: units.Enabled}})
	}
}

func hasInstall(u hostconfig.Unit) bool {
	files := []string{*u.Contents}
	for _, d := range u.DropIns {
		files = append(files, d.Contents)
	}
	return units.Install(files...) != ""
}

// canEnable reports whether a unit of the distribution can be enabled.
func (t *translator) canEnable(u hostconfig.Unit) bool {
	key := ledger.Key{Kind: ledger.Unit, Name: u.Name}
	word := t.facts.Words[u.Name]
	original := t.original(path(u.Path()))
	unmasks := u.Mask != nil && !*u.Mask || original.Target != hostconfig.MaskTarget
	// A unit file that opcrew wrote, and now removes, does not count.
	_, written := t.ledger.Records[path(u.Path())]
	switch {
	case word == units.NotFound, written && word != "" && !t.facts.Vendor[u.Name] && isAbsent(original):
		t.require(key, false, "the host has no unit %s, so it cannot be enabled: declare its contents, or install it first", u.Name)
		return false
	case word == units.Masked && !unmasks:
		t.require(key, false, "unit %s is masked, so it cannot be enabled: declare mask: false", u.Name)
		return false
	case word == units.Masked:
		return t.facts.Installs[u.Path()] != ""
	}
	return !slices.Contains(unenabled, word)
}
