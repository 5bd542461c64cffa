// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

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
	case u.Mask != nil && *u.Mask, u.Enabled != nil && !*u.Enabled && t.canDisable(u):
		t.add(Item{Key: key, State: ledger.State{Value: units.Disabled}})
	case u.Enabled == nil || !*u.Enabled || t.isSpecial(u):
	case u.Contents != nil && hasInstall(u):
		t.add(Item{Key: key, State: ledger.State{Value: units.Enabled}})
	case u.Contents == nil && t.canEnable(u):
		t.add(Item{Key: key, State: ledger.State{Value: units.Enabled}})
	}
}
