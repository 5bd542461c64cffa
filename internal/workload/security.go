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

// enforceLabel is the namespace label with the Pod Security Standard that all pods in the namespace must meet.
const enforceLabel = "pod-security.kubernetes.io/enforce"

// Profile returns the security profile of an application's pods: the profile of the spec, or Restricted if the
// namespace only admits restricted pods.
func Profile(asked common.SecurityProfile, ns *corev1.Namespace) common.SecurityProfile {
	if ns.Labels[enforceLabel] == "restricted" {
		return common.SecurityProfileRestricted
	}
	return asked
}

// EnforcementChanged is a predicate that passes namespaces when the Pod Security Standard that they enforce changes.
var EnforcementChanged = kit.Updates(func(e ctrlevent.UpdateEvent) bool {
	return e.ObjectOld.GetLabels()[enforceLabel] != e.ObjectNew.GetLabels()[enforceLabel]
})

// Secured returns the child with its security profile. Before opcrew writes the child, it checks that the pods satisfy
// this profile.
func Secured(child ensure.Child, profile common.SecurityProfile) ensure.Child {
	if profile != common.SecurityProfileRestricted {
		child.Security = guard.Baseline
	}
	return child
}

// Restrict makes the pods of a template meet the restricted Pod Security Standard if profile is Restricted. Their
// containers then run without root and without capabilities. For any other profile, Restrict does nothing.
func Restrict(template *corev1ac.PodTemplateSpecApplyConfiguration, profile common.SecurityProfile) {
	if profile != common.SecurityProfileRestricted {
		return
	}
	template.Spec.SecurityContext.WithRunAsNonRoot(true)
	for i := range template.Spec.Containers {
		template.Spec.Containers[i].SecurityContext.Capabilities.Add = nil
	}
}

// Confined returns the security context that the restricted Pod Security Standard requires of each container: no
// capabilities and no privilege escalation.
func Confined() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// Restricted returns Confined with a read-only root file system, for images that need not write to it.
func Restricted() *corev1ac.SecurityContextApplyConfiguration {
	return Confined().WithReadOnlyRootFilesystem(true)
}

// Modest returns a security context for ordinary images, such as nginx, which start as root, bind a low port, and then
// switch to another user.
func Modest() *corev1ac.SecurityContextApplyConfiguration {
	out := Confined()
	out.Capabilities.WithAdd("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID")
	return out
}
