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
	// drain is how long, in seconds, a pod continues to serve requests after its deletion. In this time, all proxies
	// stop sending requests to the pod.
	drain = 5
	// grace is the grace period of a pod in seconds. It includes drain.
	grace = 35
)

// Container returns the main container of an application.
func Container(name, image string, ports []common.Port) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().WithName(name).WithImage(image).
		WithPorts(ContainerPorts(ports)...).
		WithLifecycle(corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
			WithSleep(corev1ac.SleepAction().WithSeconds(drain)))).
		WithSecurityContext(Modest())
	if probed, ok := firstTCP(ports); ok {
		c.WithReadinessProbe(corev1ac.Probe().WithPeriodSeconds(5).
			WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(ContainerPort(probed)))))
	}
	return c
}

// WithEnvs sets the environment variables of a container.
func WithEnvs(c *corev1ac.ContainerApplyConfiguration, envs []corev1.EnvVar) {
	c.WithEnv(podtemplate.Convert[[]*corev1ac.EnvVarApplyConfiguration](envs)...)
}

// WithResources sets the requests and limits of a container.
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

// Quantities converts amounts from the API types of opcrew to Kubernetes quantities.
func Quantities(amounts map[corev1.ResourceName]common.Amount) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, amount := range amounts {
		out[name] = amount.Quantity()
	}
	return out
}

// InvalidImage returns what is wrong with an image reference; "" if it is valid. The API server accepts any text as an
// image, so without this check only the status of each pod would show the error.
func InvalidImage(image string) string {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return fmt.Sprintf("%q is not a valid image (%s); write an image such as registry.example.com/team/app:1.0", image, err)
	}
	return ""
}
