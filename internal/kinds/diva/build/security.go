// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/workload"
)

// sshServer returns the security context of client pods. An sshd that runs as root needs these capabilities, as
// docs/diva.md explains. An sshd that runs as another user accepts only logins of that user and needs no capabilities.
func sshServer(part opsv1.Part) *corev1ac.SecurityContextApplyConfiguration {
	out := workload.Confined()
	if isRoot(part) {
		out.Capabilities.WithAdd("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID", "SYS_CHROOT")
	}
	return out
}

// ordinary returns the security context of containers that run no sshd.
func ordinary(part opsv1.Part) *corev1ac.SecurityContextApplyConfiguration {
	if isRoot(part) {
		return workload.Modest()
	}
	return workload.Confined()
}

// Security returns the security rules that the pods of a part must comply with.
func Security(part opsv1.Part) guard.Security {
	if isRoot(part) {
		return guard.SSHServer
	}
	return guard.Restricted
}
