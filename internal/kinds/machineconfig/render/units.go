// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"regexp"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_5/types"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// dropInName matches names of drop-ins. They become file names, so they must not contain a slash.
var dropInName = regexp.MustCompile(`^[A-Za-z0-9:._@\\-]{1,250}[.]conf$`)

func checkUnits(units []types.Unit, n *notes) {
	for i, unit := range units {
		field := fmt.Sprintf("%s.systemd.units[%d]", configField, i)
		if !hostconfig.IsUnit(unit.Name) {
			n.invalid(field+".name", `%q is not the name of a unit: write letters, digits, ':', '.', '_', '@', '-' and '\', and a suffix such as .service`, unit.Name)
		}
		if unit.Name == machineorder.Unit {
			n.invalid(field+".name", "%s is the machine agent itself, which opcrew installs: remove the unit", unit.Name)
		}
		for j, dropIn := range unit.Dropins {
			if !dropInName.MatchString(dropIn.Name) {
				n.invalid(fmt.Sprintf("%s.dropins[%d].name", field, j), "%q is not the name of a drop-in: write letters, digits, '.', '_' and '-', and end it in .conf, such as 10-limits.conf", dropIn.Name)
			}
		}
	}
}

// newUnits converts units, and leaves out those that declare nothing.
func newUnits(units []types.Unit, n *notes) []hostconfig.Unit {
	var out []hostconfig.Unit
	for i, unit := range units {
		if util.IsTrue(unit.Mask) && util.IsTrue(unit.Enabled) {
			n.invalid(fmt.Sprintf("%s.systemd.units[%d]", configField, i), "unit %s is masked and enabled: remove mask or enabled", unit.Name)
		}
		host := hostconfig.Unit{Name: unit.Name, Enabled: unit.Enabled, Mask: unit.Mask, DropIns: newDropIns(unit.Dropins)}
		if util.NotEmpty(unit.Contents) {
			host.Contents = unit.Contents
		}
		if host.Enabled != nil || host.Mask != nil || host.Contents != nil || len(host.DropIns) > 0 {
			out = append(out, host)
		}
	}
	return sorted(out, func(u hostconfig.Unit) string { return u.Name })
}

// newDropIns converts drop-ins. One without contents declares nothing, as in Ignition; a later MachineConfig can remove
// a drop-in in this way.
func newDropIns(dropIns []types.Dropin) []hostconfig.DropIn {
	var out []hostconfig.DropIn
	for _, dropIn := range dropIns {
		if util.NotEmpty(dropIn.Contents) {
			out = append(out, hostconfig.DropIn{Name: dropIn.Name, Contents: *dropIn.Contents})
		}
	}
	return sorted(out, func(d hostconfig.DropIn) string { return d.Name })
}
