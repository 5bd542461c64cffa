// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// wants reports whether this controller handles a Service. A Service with a loadBalancerClass belongs to another load
// balancer.
func wants(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.Spec.LoadBalancerClass == nil
}

// requestedAddress returns the address that a Service requests, if any.
func requestedAddress(service *corev1.Service) (netip.Addr, error) {
	if service.Spec.LoadBalancerIP == "" {
		return netip.Addr{}, nil
	}
	address, err := netip.ParseAddr(service.Spec.LoadBalancerIP)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("read spec.loadBalancerIP: %w", err)
	}
	return address, nil
}

// addresses returns the IP addresses in the Service's status. It leaves out host names.
func addresses(service *corev1.Service) []netip.Addr {
	var all []netip.Addr
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		if address, err := netip.ParseAddr(ingress.IP); err == nil {
			all = append(all, address)
		}
	}
	return all
}
