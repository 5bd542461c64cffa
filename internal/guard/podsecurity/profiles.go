// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"slices"

	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/opcrew/opcrew/internal/guard"
)

// exemption is a check that a profile leaves out, with the reason. Some checks of the restricted standard replace one
// of the baseline standard. If such a check is left out, the baseline check applies again.
type exemption struct {
	check policy.CheckID
	why   string
}

// profile is a Pod Security Standard without some of its checks.
type profile struct {
	level  api.Level
	exempt []exemption
}

// profiles returns all security profiles that opcrew assigns to pods. Each profile includes its exemptions.
func profiles() map[guard.Security]profile {
	return map[guard.Security]profile{
		guard.Restricted: {level: api.LevelRestricted},
		guard.Baseline:   {level: api.LevelBaseline},
		guard.SSHServer: {level: api.LevelRestricted, exempt: []exemption{
			{"runAsNonRoot", "sshd starts as root, so that it can switch to the user who logs in"},
			{"runAsUser", "root writes the SSH keys, and ssh refuses key files that another user owns"},
			{"capabilities_restricted", "root needs capabilities to switch to another user; capabilities_baseline applies instead"},
		}},
		guard.NodeAgent: {level: api.LevelRestricted, exempt: []exemption{
			{"hostNamespaces", "the firewall of a node is that of the host's network"},
			{"hostPathVolumes", "the host keeps the rules that an agent must restore after a crash or a boot"},
			{"restrictedVolumes", "as above"},
			{"capabilities_baseline", "only NET_ADMIN may change the firewall"},
			{"capabilities_restricted", "as above"},
			{"runAsNonRoot", "only root has the capability without a change of the program's file"},
			{"runAsUser", "as above"},
		}},
		guard.HostCommand: {level: api.LevelRestricted, exempt: []exemption{
			{"privileged", "only a privileged container may enter the namespaces of the host"},
			{"hostNamespaces", "the agent enters the host through process 1 of the host, and must work while the pod network is down"},
			{"allowPrivilegeEscalation", "a privileged container always allows privilege escalation, and commands such as sudo need it"},
			{"capabilities_restricted", "the command has the rights of root on the host; capabilities_baseline applies instead"},
			{"runAsNonRoot", "the agent switches to the user of the command, which is root unless the spec names another user"},
			{"runAsUser", "the agent enters the namespaces of the host as root"},
			{"seccompProfile_restricted", "a seccomp filter would also apply to the command on the host; seccompProfile_baseline applies instead"},
		}},
	}
}

// evaluator returns an evaluator that applies the checks of the profile.
func (p profile) evaluator() (policy.Evaluator, error) {
	checks := slices.DeleteFunc(policy.DefaultChecks(), func(check policy.Check) bool {
		return slices.ContainsFunc(p.exempt, func(e exemption) bool { return e.check == check.ID })
	})
	for i := range checks {
		explain(&checks[i])
	}
	return policy.NewEvaluator(checks, nil)
}
