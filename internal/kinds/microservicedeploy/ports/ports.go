// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ports declares the ports and probes of a MicroServiceDeploy, with or without the authenticating proxy.
// Package auth declares the proxy itself.
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

// Target is a port of the application. The Service refers to it by name. In pods without a proxy, this name belongs to
// the port of the application; with a proxy, to the port of the proxy. So switching the proxy on or off loses no
// requests.
type Target struct {
	Name     string
	Number   int32
	Protocol corev1.Protocol
	H2c      bool // HTTP/2 without TLS
}

// H2c is the appProtocol of HTTP/2 without TLS (KEP-3726).
const H2c = "kubernetes.io/h2c"

// Targets returns the application's ports. Each port has the name of the first Service port that leads to it.
func Targets(m *customv1.MicroServiceDeploy) []Target {
	var out []Target
	for i, p := range names.Ports(m) {
		if _, there := find(out, p); !there {
			out = append(out, Target{targetName(p, i), workload.ContainerPort(p), workload.Protocol(p), p.AppProtocol == H2c})
		}
	}
	return out
}

// targetName returns the name of a port. If the port has no valid name, targetName forms a name from the position of
// the port in the list. The name does not depend on the port number, so that the Service reaches old and new pods when
// the number changes.
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

// AddPorts adds the ports to the application's container. With a proxy, these ports get no names, because the names
// belong to the ports of the proxy.
func AddPorts(c *corev1ac.ContainerApplyConfiguration, m *customv1.MicroServiceDeploy) {
	for _, t := range Targets(m) {
		port := corev1ac.ContainerPort().WithContainerPort(t.Number).WithProtocol(t.Protocol)
		if !m.Spec.NeedAuth || t.Protocol != corev1.ProtocolTCP {
			port.WithName(t.Name)
		}
		c.WithPorts(port)
	}
}

// Connects returns the default readiness probe, which connects to the first TCP port; nil if there is no TCP port.
func Connects(m *customv1.MicroServiceDeploy) *corev1ac.ProbeApplyConfiguration {
	for _, t := range Targets(m) {
		if t.Protocol == corev1.ProtocolTCP {
			return corev1ac.Probe().WithPeriodSeconds(5).
				WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(t.Number)))
		}
	}
	return nil
}
