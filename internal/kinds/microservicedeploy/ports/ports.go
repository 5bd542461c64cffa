// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ports holds the ports and probes of an instance, with or without the proxy that asks for passwords. Package
// auth has the proxy itself.
package ports

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/workload"
)

// Target is a port on which the application listens. The Service refers to it by name. In each pod, the name can stand
// for the application or for its proxy, so that a rollout from one to the other loses no request.
type Target struct {
	Name     string
	Number   int32
	Protocol corev1.Protocol
	H2c      bool // HTTP/2 without TLS
}

// H2c is the appProtocol of HTTP/2 without TLS (KEP-3726).
const H2c = "kubernetes.io/h2c"

// Targets returns the application's ports, each named by the first port that leads there.
func Targets(m *customv1.MicroServiceDeploy) []Target {
	var out []Target
	for i, p := range names.Ports(m) {
		if _, there := find(out, p); !there {
			out = append(out, Target{targetName(p, i), workload.ContainerPort(p), workload.Protocol(p), p.AppProtocol == H2c})
		}
	}
	return out
}

// targetName returns the name of a port, or one made of its position if it has none that containers can have. The name
// does not depend on the port's number, so that when the number changes the Service leads to old and new pods.
func targetName(p common.Port, place int) string {
	if p.Name == "" || len(validation.IsValidPortName(p.Name)) > 0 {
		return fmt.Sprintf("port-%d", place+1)
	}
	return p.Name
}

func find(all []Target, p common.Port) (Target, bool) {
	i := slices.IndexFunc(all, func(t Target) bool {
		return t.Number == workload.ContainerPort(p) && t.Protocol == workload.Protocol(p)
	})
	if i < 0 {
		return Target{}, false
	}
	return all[i], true
}

// Service declares the Service in front of the pods.
func Service(m *customv1.MicroServiceDeploy) *corev1ac.ServiceApplyConfiguration {
	all := Targets(m)
	named := slices.Clone(names.Ports(m))
	for i, p := range named {
		t, _ := find(all, p)
		named[i].TargetPort = common.TargetPort(t.Name)
	}
	return names.Identity(m).Service(named)
}

// AddPorts gives the application's container its ports. Behind a proxy they have no names, as the names stand for the
// proxy's ports.
func AddPorts(c *corev1ac.ContainerApplyConfiguration, m *customv1.MicroServiceDeploy) {
	for _, t := range Targets(m) {
		port := corev1ac.ContainerPort().WithContainerPort(t.Number).WithProtocol(t.Protocol)
		if !m.Spec.NeedAuth || t.Protocol != corev1.ProtocolTCP {
			port.WithName(t.Name)
		}
		c.WithPorts(port)
	}
}

// Connects returns the readiness probe for an application that has none of its own.
func Connects(m *customv1.MicroServiceDeploy) *corev1ac.ProbeApplyConfiguration {
	for _, t := range Targets(m) {
		if t.Protocol == corev1.ProtocolTCP {
			return corev1ac.Probe().WithPeriodSeconds(5).
				WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(t.Number)))
		}
	}
	return nil
}
