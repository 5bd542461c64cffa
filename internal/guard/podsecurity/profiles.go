// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"slices"

	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/opcrew/opcrew/internal/guard"
)

// exemption is a check that a profile leaves out, and why. A check of baseline that it replaced applies again.
type exemption struct {
	check policy.CheckID
	why   string
}

// profile is a Pod Security Standard, less some checks.
type profile struct {
	level  api.Level
	exempt []exemption
}

// profiles are all rules that pods of opcrew may have, and all exemptions from them.
func profiles() map[guard.Security]profile {
	return map[guard.Security]profile{
		guard.Restricted: {level: api.LevelRestricted},
		guard.Baseline:   {level: api.LevelBaseline},
		guard.SSHServer: {level: api.LevelRestricted, exempt: []exemption{
			{"runAsNonRoot", "sshd starts as root, to become the user who logs in"},
			{"runAsUser", "its keys are written by root: ssh refuses those of another user"},
			{"capabilities_restricted", "root without capabilities can change to no user; capabilities_baseline applies instead"},
		}},
		guard.HostCommand: {level: api.LevelRestricted, exempt: []exemption{
			{"privileged", "only a privileged container may enter the namespaces of the host"},
			{"hostNamespaces", "it finds the host through its process 1, and works while the network of the cluster does not"},
			{"allowPrivilegeEscalation", "a privileged container always may, and commands such as sudo need it"},
			{"capabilities_restricted", "the command has the rights of root on the host; capabilities_baseline applies instead"},
			{"runAsNonRoot", "it becomes the user of the command, which is root unless the spec names another"},
			{"runAsUser", "it enters the namespaces of the host as root"},
			{"seccompProfile_restricted", "a filter would apply to the command on the host; seccompProfile_baseline applies instead"},
		}},
	}
}

// evaluator applies the checks of a profile.
func (p profile) evaluator() (policy.Evaluator, error) {
	checks := slices.DeleteFunc(policy.DefaultChecks(), func(check policy.Check) bool {
		return slices.ContainsFunc(p.exempt, func(e exemption) bool { return e.check == check.ID })
	})
	for i := range checks {
		explain(&checks[i])
	}
	return policy.NewEvaluator(checks, nil)
}
