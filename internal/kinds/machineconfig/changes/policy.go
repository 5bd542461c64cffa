// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"strings"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// Policy is a disruption policy: the defaults, and what a pool sets in addition or instead.
type Policy struct {
	files   map[string][]mcfgv1.PolicyAction
	units   map[string][]mcfgv1.PolicyAction
	sshKeys []mcfgv1.PolicyAction
}

// NewPolicy returns the policy of a pool. An entry of the pool replaces the default for its path or unit.
func NewPolicy(pool *mcfgv1.NodeDisruptionPolicy) Policy {
	p := defaultPolicy()
	if pool == nil {
		return p
	}
	for _, f := range pool.Files {
		p.files[f.Path] = f.Actions
	}
	for _, u := range pool.Units {
		p.units[string(u.Name)] = u.Actions
	}
	if pool.SSHKey != nil {
		p.sshKeys = pool.SSHKey.Actions
	}
	return p
}

// defaultPolicy returns the defaults. They are those of OpenShift, with these differences: OpenShift decides by the
// content of registries.conf whether to drain, and opcrew always drains; and files in /etc/sysctl.d require nothing,
// because the machine agent sets the parameters itself.
func defaultPolicy() Policy {
	reloadCRIO := []mcfgv1.PolicyAction{reload("crio.service")}
	none := []mcfgv1.PolicyAction{{Type: mcfgv1.ActionNone}}
	return Policy{
		files: map[string][]mcfgv1.PolicyAction{
			"/var/lib/kubelet/config.json":                                         none,
			"/etc/machine-config-daemon/no-reboot/containers-gpg.pub":              reloadCRIO,
			"/etc/containers/policy.json":                                          reloadCRIO,
			"/etc/containers/registries.conf":                                      {{Type: mcfgv1.ActionDrain}, reload("crio.service")},
			"/etc/containers/registries.d":                                         reloadCRIO,
			"/etc/crio/policies":                                                   reloadCRIO,
			"/etc/nmstate/openshift":                                               none,
			"/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt": {restart("coreos-update-ca-trust.service"), restart("crio.service")},
			"/etc/kubernetes/credential-providers":                                 {restart("kubelet.service")},
			"/etc/systemd/system/kubelet.service.d/40-kubelet-crio-image-credential-provider.conf": {{Type: mcfgv1.ActionDaemonReload}, restart("kubelet.service")},
			"/etc/sysctl.d": none,
		},
		units:   map[string][]mcfgv1.PolicyAction{},
		sshKeys: none,
	}
}

func reload(unit mcfgv1.UnitName) mcfgv1.PolicyAction {
	return mcfgv1.PolicyAction{Type: mcfgv1.ActionReload, Reload: &mcfgv1.ServiceAction{ServiceName: unit}}
}

func restart(unit mcfgv1.UnitName) mcfgv1.PolicyAction {
	return mcfgv1.PolicyAction{Type: mcfgv1.ActionRestart, Restart: &mcfgv1.ServiceAction{ServiceName: unit}}
}

// reboot is what a change requires that no entry lists.
var reboot = []mcfgv1.PolicyAction{{Type: mcfgv1.ActionReboot}}

// required returns what one change requires.
func (p Policy) required(c Change) []mcfgv1.PolicyAction {
	switch c.Kind {
	case Directory, File, Link:
		return p.forPath(c.Name)
	case Unit, DropIn:
		return p.forUnit(c)
	case SSHKeys:
		return p.sshKeys
	case Password:
		return nil
	}
	return reboot
}

// forPath returns the actions of the longest path that is a file or contains it.
func (p Policy) forPath(file string) []mcfgv1.PolicyAction {
	longest, actions := -1, reboot
	for path, of := range p.files {
		if contains(path, file) && len(path) > longest {
			longest, actions = len(path), of
		}
	}
	return actions
}

func contains(path, file string) bool {
	return path == file || path == "/" || strings.HasPrefix(file, path+"/")
}

func (p Policy) forUnit(c Change) []mcfgv1.PolicyAction {
	if actions, listed := p.units[c.unit()]; listed {
		return actions
	}
	return unitDefault(c)
}
