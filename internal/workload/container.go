// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

const (
	// drain is how many seconds a pod that goes still serves, until no proxy sends it
	// requests any more.
	drain = 5
	// grace is how many seconds a pod has to end, drain included.
	grace = 35
)

// Container is the application's own container.
func Container(name, image string, ports []common.Port) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().WithName(name).WithImage(image).
		WithPorts(ContainerPorts(ports)...).
		WithLifecycle(corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
			WithSleep(corev1ac.SleepAction().WithSeconds(drain)))).
		WithSecurityContext(modest())
	if probed, ok := firstTCP(ports); ok {
		c.WithReadinessProbe(corev1ac.Probe().WithPeriodSeconds(5).
			WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(ContainerPort(probed)))))
	}
	return c
}

// modest is a container that may do what ordinary images do at their start: servers such
// as nginx begin as root, take a low port, and become someone else.
func modest() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL").
			WithAdd("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"))
}

// Locked is a container that may do nothing but run: for images that need no more.
func Locked() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithReadOnlyRootFilesystem(true).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// WithEnvs gives a container an environment in the API's own types.
func WithEnvs(c *corev1ac.ContainerApplyConfiguration, envs []corev1.EnvVar) {
	c.WithEnv(podtemplate.Convert[[]*corev1ac.EnvVarApplyConfiguration](envs)...)
}

// WithResources gives a container what it asks for.
func WithResources(c *corev1ac.ContainerApplyConfiguration, r common.Resources) {
	if len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	ac := corev1ac.ResourceRequirements()
	if len(r.Limits) > 0 {
		ac.WithLimits(Quantities(r.Limits))
	}
	if len(r.Requests) > 0 {
		ac.WithRequests(Quantities(r.Requests))
	}
	c.WithResources(ac)
}

// Quantities are amounts as Kubernetes has them.
func Quantities(amounts map[corev1.ResourceName]common.Amount) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, amount := range amounts {
		out[name] = amount.Quantity()
	}
	return out
}

// InvalidImage says what is wrong with an image reference, or is empty. The API server
// takes any text, and a kubelet would say so pod by pod.
func InvalidImage(image string) string {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return fmt.Sprintf("%q is no image (%s); write one such as registry.example.com/team/app:1.0", image, err)
	}
	return ""
}
