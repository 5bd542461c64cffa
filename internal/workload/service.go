// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Service returns a Service that exposes the pods. Its type is NodePort if one of the ports has a nodePort.
func (id Identity) Service(ports []common.Port) *corev1ac.ServiceApplyConfiguration {
	spec := corev1ac.ServiceSpec().WithType(corev1.ServiceTypeClusterIP).WithSelector(id.Selector)
	for _, p := range ports {
		if p.NodePort != nil {
			spec.WithType(corev1.ServiceTypeNodePort)
		}
		spec.WithPorts(servicePort(p))
	}
	return corev1ac.Service(id.Name, id.Namespace).WithLabels(id.Labels).WithSpec(spec)
}

func servicePort(p common.Port) *corev1ac.ServicePortApplyConfiguration {
	ac := corev1ac.ServicePort().WithName(PortName(p)).WithProtocol(Protocol(p)).WithPort(p.Port).WithTargetPort(target(p))
	if p.NodePort != nil && *p.NodePort != 0 {
		ac.WithNodePort(*p.NodePort)
	}
	if p.AppProtocol != "" {
		ac.WithAppProtocol(p.AppProtocol)
	}
	return ac
}

// PortName returns the name of a port. The name must be stable, because Kubernetes keeps an allocated nodePort only for
// a port with the same name.
func PortName(p common.Port) string {
	return cmp.Or(p.Name, fmt.Sprintf("%s-%d", strings.ToLower(string(Protocol(p))), p.Port))
}

// Protocol returns the protocol of a port, TCP by default.
func Protocol(p common.Port) corev1.Protocol { return cmp.Or(p.Protocol, corev1.ProtocolTCP) }

func target(p common.Port) intstr.IntOrString {
	if p.TargetPort != "" {
		return p.TargetPort.IntOrString()
	}
	return intstr.FromInt32(p.Port)
}

// ContainerPort returns the port on which the container listens. If the target port is a name, the container listens on
// the number of the Service port.
func ContainerPort(p common.Port) int32 {
	if to := target(p); to.Type == intstr.Int {
		return to.IntVal
	}
	return p.Port
}

// ContainerPorts returns the container ports without duplicates. Several Service ports may have the same target.
func ContainerPorts(ports []common.Port) []*corev1ac.ContainerPortApplyConfiguration {
	var out []*corev1ac.ContainerPortApplyConfiguration
	for _, p := range ports {
		number, proto := ContainerPort(p), Protocol(p)
		i := slices.IndexFunc(out, func(c *corev1ac.ContainerPortApplyConfiguration) bool {
			return *c.ContainerPort == number && *c.Protocol == proto
		})
		if i < 0 {
			out, i = append(out, corev1ac.ContainerPort().WithContainerPort(number).WithProtocol(proto)), len(out)
		}
		if to := target(p); to.Type == intstr.String {
			out[i].WithName(to.StrVal)
		}
	}
	return out
}

func firstTCP(ports []common.Port) (common.Port, bool) {
	i := slices.IndexFunc(ports, func(p common.Port) bool { return Protocol(p) == corev1.ProtocolTCP })
	if i < 0 {
		return common.Port{}, false
	}
	return ports[i], true
}
