// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ports

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// AddProbes adds the spec's probes to the application's container.
func AddProbes(c *corev1ac.ContainerApplyConfiguration, m *customv1.MicroServiceDeploy) {
	p := m.Spec.Probes
	if p == nil {
		p = &common.Probes{}
	}
	convert := func(p *corev1.Probe) *corev1ac.ProbeApplyConfiguration {
		return podtemplate.Convert[*corev1ac.ProbeApplyConfiguration](numbered(p, m))
	}
	switch ready := Connects(m); {
	case p.Readiness != nil:
		c.WithReadinessProbe(convert(p.Readiness))
	case ready != nil:
		c.WithReadinessProbe(ready)
	}
	if p.Liveness != nil {
		c.WithLivenessProbe(convert(p.Liveness))
	}
	if p.Startup != nil {
		c.WithStartupProbe(convert(p.Startup))
	}
}

// numbered replaces port names in a probe with numbers. With a proxy, the port names belong to the proxy, but a kubelet
// looks them up in the container of the application.
func numbered(p *corev1.Probe, m *customv1.MicroServiceDeploy) *corev1.Probe {
	p = p.DeepCopy()
	if p.HTTPGet != nil {
		p.HTTPGet.Port = number(p.HTTPGet.Port, m)
	}
	if p.TCPSocket != nil {
		p.TCPSocket.Port = number(p.TCPSocket.Port, m)
	}
	return p
}

// number looks up a port of the spec by its name or by the name of its targetPort, and returns the port number. It
// returns an unknown name unchanged, so that the API server or the kubelet reports it.
func number(port intstr.IntOrString, m *customv1.MicroServiceDeploy) intstr.IntOrString {
	if port.Type != intstr.String {
		return port
	}
	for _, p := range names.Ports(m) {
		if workload.PortName(p) == port.StrVal || p.TargetPort == common.TargetPort(port.StrVal) {
			return intstr.FromInt32(workload.ContainerPort(p))
		}
	}
	return port
}
