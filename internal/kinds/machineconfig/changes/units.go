// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"slices"
	"strings"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// runtimes are units whose restart may stop containers.
var runtimes = []string{"containerd.service", "crio.service", "docker.service"}

// unitDefault returns what a change of a unit requires that the policy does not list. Restarting a unit that the
// configuration enables has the effect that a reboot would have. OpenShift reboots; so does opcrew if the configuration
// does not enable the unit, because whether it runs depends on the host, or if it is a template, which only its instances
// run.
func unitDefault(c Change) []mcfgv1.PolicyAction {
	if c.Action == Removed || !c.enabled || strings.Contains(c.unit(), "@.") {
		return reboot
	}
	name := mcfgv1.UnitName(c.unit())
	actions := []mcfgv1.PolicyAction{{Type: mcfgv1.ActionDaemonReload}, restart(name)}
	if slices.Contains(runtimes, c.unit()) {
		return append([]mcfgv1.PolicyAction{{Type: mcfgv1.ActionDrain}}, actions...)
	}
	return actions
}
