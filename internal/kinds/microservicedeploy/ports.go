// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

// target is a port at which the application listens. The Service leads to it by name, so
// that in each pod the name can stand for the application or for the proxy before it, and
// a rollout from the one to the other loses no request.
type target struct {
	name     string
	number   int32
	protocol corev1.Protocol
	h2c      bool // it is spoken to in HTTP/2 without TLS
}

// h2c is the appProtocol of HTTP/2 without TLS (KEP-3726).
const h2c = "kubernetes.io/h2c"

// targets are the application's ports, each named by the first port that leads there.
func targets(m *customv1.MicroServiceDeploy) []target {
	var out []target
	for i, p := range ports(m) {
		if _, there := find(out, p); !there {
			out = append(out, target{targetName(p, i), workload.ContainerPort(p), workload.Protocol(p), p.AppProtocol == h2c})
		}
	}
	return out
}

// targetName is that of a port, or one made of its place where it has none that containers
// can have. Its numbers are not part of it: when they change, pods from before and after
// have the same names, and the Service leads to both.
func targetName(p common.Port, place int) string {
	if p.Name == "" || len(validation.IsValidPortName(p.Name)) > 0 {
		return fmt.Sprintf("port-%d", place+1)
	}
	return p.Name
}

func find(all []target, p common.Port) (target, bool) {
	i := slices.IndexFunc(all, func(t target) bool {
		return t.number == workload.ContainerPort(p) && t.protocol == workload.Protocol(p)
	})
	if i < 0 {
		return target{}, false
	}
	return all[i], true
}

// service stands in front of the pods.
func service(m *customv1.MicroServiceDeploy) *corev1ac.ServiceApplyConfiguration {
	all := targets(m)
	named := slices.Clone(ports(m))
	for i, p := range named {
		t, _ := find(all, p)
		named[i].TargetPort = common.TargetPort(t.name)
	}
	return identity(m).Service(named)
}

// listens gives the application's container its ports. Behind the proxy they have no
// names: those are the proxy's.
func listens(c *corev1ac.ContainerApplyConfiguration, m *customv1.MicroServiceDeploy) {
	for _, t := range targets(m) {
		port := corev1ac.ContainerPort().WithContainerPort(t.number).WithProtocol(t.protocol)
		if !m.Spec.NeedAuth || t.protocol != corev1.ProtocolTCP {
			port.WithName(t.name)
		}
		c.WithPorts(port)
	}
}

// connects is the readiness probe of an application that has none of its own.
func connects(m *customv1.MicroServiceDeploy) *corev1ac.ProbeApplyConfiguration {
	for _, t := range targets(m) {
		if t.protocol == corev1.ProtocolTCP {
			return corev1ac.Probe().WithPeriodSeconds(5).
				WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(t.number)))
		}
	}
	return nil
}
