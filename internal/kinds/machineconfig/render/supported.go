// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"github.com/coreos/ignition/v2/config/v3_5/types"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// section is a part of a config that opcrew does not support, and what to write instead.
type section struct {
	field   string
	isSet   bool
	instead string
}

// checkSpec reports fields of a MachineConfig that opcrew does not support.
func checkSpec(spec mcfgv1.MachineConfigSpec, n *notes) {
	refuse(n, "spec.", []section{
		{"osImageURL", spec.OSImageURL != "", "opcrew does not replace operating systems; remove the field, and replace the machine or its image instead"},
		{"baseOSExtensionsContainerImage", spec.BaseOSExtensionsContainerImage != "", "opcrew installs no packages; remove the field, and put the packages into the image of the machine"},
		{"extensions", len(spec.Extensions) > 0, "opcrew installs no packages; remove the field, and put the packages into the image of the machine"},
		{"fips", spec.FIPS, "opcrew cannot switch a running host to FIPS mode; remove the field, and use an image in FIPS mode"},
		{"kernelType", spec.KernelType != "" && spec.KernelType != "default", "opcrew installs no kernels; write default, and put the kernel into the image of the machine"},
	})
}

// checkSupported reports sections of an Ignition config that opcrew does not support.
func checkSupported(c types.Config, n *notes) {
	refuse(n, configField+".", ignitionSections(c.Ignition))
	refuse(n, configField+".", []section{
		{"storage.disks", len(c.Storage.Disks) > 0, noDisks},
		{"storage.raid", len(c.Storage.Raid) > 0, noDisks},
		{"storage.filesystems", len(c.Storage.Filesystems) > 0, noDisks},
		{"storage.luks", len(c.Storage.Luks) > 0, noDisks},
		{"passwd.groups", len(c.Passwd.Groups) > 0, "opcrew creates no groups; remove the section, and create the groups in the image of the machine"},
	})
	checkUsers(c.Passwd.Users, n)
	checkUnits(c.Systemd.Units, n)
	checkEntries(c.Storage, n)
}

const noDisks = "opcrew does not partition or format disks; remove the section, and prepare the disks in the image of the machine"

func ignitionSections(ignition types.Ignition) []section {
	const noFetch = "opcrew fetches nothing on behalf of a config; remove the section"
	return []section{
		{"ignition.config.merge", len(ignition.Config.Merge) > 0, "opcrew fetches no other configs; copy their contents into a MachineConfig of the pool"},
		{"ignition.config.replace", ignition.Config.Replace.Source != nil, "opcrew fetches no other configs; copy its contents into a MachineConfig of the pool"},
		{"ignition.proxy", ignition.Proxy.HTTPProxy != nil || ignition.Proxy.HTTPSProxy != nil || len(ignition.Proxy.NoProxy) > 0, noFetch},
		{"ignition.security", len(ignition.Security.TLS.CertificateAuthorities) > 0, noFetch},
		{"ignition.timeouts", ignition.Timeouts.HTTPResponseHeaders != nil || ignition.Timeouts.HTTPTotal != nil, noFetch},
	}
}

// refuse adds a problem for each section that is set.
func refuse(n *notes, prefix string, sections []section) {
	for _, s := range sections {
		if s.isSet {
			n.unsupported(prefix+s.field, "%s", s.instead)
		}
	}
}
