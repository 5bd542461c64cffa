// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// enforceLabel of a namespace is the Pod Security Standard that all pods in it must meet.
const enforceLabel = "pod-security.kubernetes.io/enforce"

// Profile is the profile of an application's pods: that of the spec, or Restricted where the namespace admits no
// other pods.
func Profile(asked common.SecurityProfile, ns *corev1.Namespace) common.SecurityProfile {
	if ns.Labels[enforceLabel] == "restricted" {
		return common.SecurityProfileRestricted
	}
	return asked
}

// EnforcementChanged passes changes of what a namespace enforces.
var EnforcementChanged = kit.Updates(func(e ctrlevent.UpdateEvent) bool {
	return e.ObjectOld.GetLabels()[enforceLabel] != e.ObjectNew.GetLabels()[enforceLabel]
})

// Secured is a child with pods of a profile, which the finished pods must match.
func Secured(child ensure.Child, profile common.SecurityProfile) ensure.Child {
	if profile != common.SecurityProfileRestricted {
		child.Security = guard.Baseline
	}
	return child
}

// Restrict makes the pods of a template meet the restricted Pod Security Standard, if that is their profile: no
// container runs as root, and none has capabilities.
func Restrict(template *corev1ac.PodTemplateSpecApplyConfiguration, profile common.SecurityProfile) {
	if profile != common.SecurityProfileRestricted {
		return
	}
	template.Spec.SecurityContext.WithRunAsNonRoot(true)
	for i := range template.Spec.Containers {
		template.Spec.Containers[i].SecurityContext.Capabilities.Add = nil
	}
}

// Confined allows a container nothing but to run, as the restricted Pod Security Standard requires of each.
func Confined() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// Restricted is Confined with a read-only root, for images that need no more.
func Restricted() *corev1ac.SecurityContextApplyConfiguration {
	return Confined().WithReadOnlyRootFilesystem(true)
}

// Modest allows what ordinary images do when they start: servers such as nginx start as root, bind a low port, and
// change their user.
func Modest() *corev1ac.SecurityContextApplyConfiguration {
	out := Confined()
	out.Capabilities.WithAdd("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID")
	return out
}
