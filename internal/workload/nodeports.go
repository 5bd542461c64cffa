// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// NodePorts describes which other Services use the requested nodePorts.
type NodePorts struct{ Holders string }

// ObserveNodePorts finds the Services that use the nodePorts of an application. It reads all Services of the cluster,
// so call it only after the API server has refused a nodePort.
func ObserveNodePorts(ctx context.Context, live client.Reader, id Identity, ports []common.Port) (NodePorts, error) {
	services := &corev1.ServiceList{}
	if err := live.List(ctx, services); err != nil {
		return NodePorts{}, fmt.Errorf("list Services to find which one uses a nodePort: %w", err)
	}
	var holders []string
	for _, p := range ports {
		for i := range services.Items {
			s := &services.Items[i]
			if (s.Namespace != id.Namespace || s.Name != id.Name) && holds(s, p) {
				log.FromContext(ctx).V(1).Info("Another Service uses a requested nodePort", "nodePort", *p.NodePort, "by", s.Namespace+"/"+s.Name)
				holders = append(holders, holder(id, s, *p.NodePort))
			}
		}
	}
	return NodePorts{strings.Join(holders, ", ")}, nil
}

// holder describes which Service uses a port. It does not name a Service in another namespace, because users of this
// namespace may not be allowed to know it.
func holder(id Identity, s *corev1.Service, port int32) string {
	if s.Namespace != id.Namespace {
		return fmt.Sprintf("nodePort %d is in use in another namespace", port)
	}
	return fmt.Sprintf("nodePort %d belongs to Service %s/%s", port, s.Namespace, s.Name)
}

func holds(s *corev1.Service, wanted common.Port) bool {
	if wanted.NodePort == nil || *wanted.NodePort == 0 {
		return false
	}
	for _, p := range s.Spec.Ports {
		if p.NodePort == *wanted.NodePort && p.Protocol == Protocol(wanted) {
			return true
		}
	}
	return s.Spec.HealthCheckNodePort == *wanted.NodePort
}

// Report replaces the API server's message about a used nodePort, because that message does not name the Service that
// uses it.
func (n NodePorts) Report(set condition.Set, kind string, done kit.Outcome) {
	if done.Err == nil || !strings.Contains(done.Err.Error(), "provided port is already allocated") {
		return
	}
	message := done.Err.Error()
	if n.Holders != "" {
		message = n.Holders + "; choose another port, or 0 for any free port"
	}
	set.False(kind, common.ReasonNodePortTaken, message)
}
