// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosts decides which of the host names that several instances claim an instance gets, and declares its Ingress
// or HTTPRoute.
package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/workload"
)

// RouteKind is the HTTPRoute of Gateway API, which not every cluster has.
var RouteKind = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}

// RouteCRD is the CRD of HTTPRoute. Without it, host names get an Ingress instead.
const RouteCRD = "httproutes.gateway.networking.k8s.io"

// Claimed returns the host names that an instance claims: the name of its major version, and the name of the
// microservice, which only one of its major versions gets.
func Claimed(m *customv1.MicroServiceDeploy) []string {
	if m.Spec.BaseDomain == "" {
		return nil
	}
	bare := bareHost(m)
	if m.Spec.Path == "" {
		return []string{bare}
	}
	versioned := m.Spec.Path + "-" + bare
	if m.Spec.Current != nil && !*m.Spec.Current {
		return []string{versioned}
	}
	return []string{versioned, bare}
}

// Assign returns the claimed host names that an instance has, and messages about those that a rival has. If another
// major version has the microservice's name, that is not a conflict.
func Assign(m *customv1.MicroServiceDeploy, rivals []customv1.MicroServiceDeploy) (has []string, lost []string) {
	for _, host := range Claimed(m) {
		claimants := []*customv1.MicroServiceDeploy{m}
		for i := range rivals {
			if slices.Contains(Claimed(&rivals[i]), host) {
				claimants = append(claimants, &rivals[i])
			}
		}
		switch winner := winner(claimants, host); {
		case winner == m:
			has = append(has, host)
		case !siblings(m, winner) || Insists(m) || m.Spec.Path == "" || host != bareHost(m):
			lost = append(lost, host+holder(m, winner))
		}
	}
	return has, lost
}

// holder says who has a host name. What is in another namespace is not the business of the users of this one.
func holder(m, winner *customv1.MicroServiceDeploy) string {
	if winner.Namespace != m.Namespace {
		return " is in use in another namespace"
	}
	return fmt.Sprintf(" belongs to MicroServiceDeploy %s/%s", winner.Namespace, winner.Name)
}

// winner is who gets a host name: the microservice that has it, else the oldest claimant's.
// Among its instances, its own name goes to the one that insists on it, else to the oldest,
// and that of a major version to the one that has it. All claimants come to the same.
func winner(claimants []*customv1.MicroServiceDeploy, host string) *customv1.MicroServiceDeploy {
	first := slices.MinFunc(claimants, func(a, b *customv1.MicroServiceDeploy) int {
		return cmp.Or(lacking(a, host)-lacking(b, host), older(a, b))
	})
	return slices.MinFunc(claimants, func(a, b *customv1.MicroServiceDeploy) int {
		return cmp.Or(rank(a, first, host)-rank(b, first, host), precedence(a, b, host))
	})
}

// precedence is negative if a goes before its sibling b of the same rank. Creation times are in seconds: if they are
// equal, the instance that has the name keeps it.
func precedence(a, b *customv1.MicroServiceDeploy, host string) int {
	has := lacking(a, host) - lacking(b, host)
	if host == bareHost(a) {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), has, older(a, b))
	}
	return cmp.Or(has, older(a, b))
}

// lacking returns 0 for an instance that has the host name already, and 1 otherwise. An older object that claims the
// name only now does not take it from a running instance.
func lacking(m *customv1.MicroServiceDeploy, host string) int {
	if slices.Contains(m.Status.Hosts, host) {
		return 0
	}
	return 1
}

// rank orders claimants by what matters more than age.
func rank(m, first *customv1.MicroServiceDeploy, host string) int {
	switch {
	case !siblings(m, first):
		return 2
	case Insists(m) && host == bareHost(m):
		return 0
	}
	return 1
}

func older(a, b *customv1.MicroServiceDeploy) int {
	return cmp.Or(
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name),
	)
}

// bareHost returns the host name of the microservice, without a major version.
func bareHost(m *customv1.MicroServiceDeploy) string { return m.Spec.MsName + "." + m.Spec.BaseDomain }

// siblings reports whether two instances belong to the same microservice.
func siblings(a, b *customv1.MicroServiceDeploy) bool {
	return a.Namespace == b.Namespace && a.Spec.MsName == b.Spec.MsName
}

// Insists reports whether the spec sets current, and so does not leave the choice of the current instance to opcrew.
func Insists(m *customv1.MicroServiceDeploy) bool { return m.Spec.Current != nil && *m.Spec.Current }

// backendPort returns the port of the Service that host names lead to: its first TCP port.
func backendPort(m *customv1.MicroServiceDeploy) int32 {
	for _, p := range names.Ports(m) {
		if workload.Protocol(p) == corev1.ProtocolTCP {
			return p.Port
		}
	}
	return names.Ports(m)[0].Port
}

// Ingress declares the Ingress for host names.
func Ingress(m *customv1.MicroServiceDeploy, hosts []string) *networkingv1ac.IngressApplyConfiguration {
	id := names.Identity(m)
	spec := networkingv1ac.IngressSpec()
	if m.Spec.IngressClassName != "" {
		spec.WithIngressClassName(m.Spec.IngressClassName)
	}
	for _, host := range hosts {
		spec.WithRules(networkingv1ac.IngressRule().WithHost(host).WithHTTP(networkingv1ac.HTTPIngressRuleValue().
			WithPaths(networkingv1ac.HTTPIngressPath().WithPath("/").WithPathType(networkingv1.PathTypePrefix).
				WithBackend(networkingv1ac.IngressBackend().WithService(networkingv1ac.IngressServiceBackend().
					WithName(id.Name).WithPort(networkingv1ac.ServiceBackendPort().WithNumber(backendPort(m))))))))
	}
	return networkingv1ac.Ingress(id.Name, id.Namespace).WithLabels(id.Labels).WithSpec(spec)
}

// Route declares the HTTPRoute that attaches the instance to a Gateway.
func Route(m *customv1.MicroServiceDeploy, hosts []string) runtime.ApplyConfiguration {
	id, gateway := names.Identity(m), m.Spec.Gateway
	parent := map[string]any{
		"group": RouteKind.Group, "kind": "Gateway", "name": gateway.Name, "namespace": cmp.Or(gateway.Namespace, m.Namespace),
	}
	if gateway.Listener != "" {
		parent["sectionName"] = gateway.Listener
	}
	route := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"parentRefs": []any{parent},
		"hostnames":  anys(hosts),
		"rules": []any{map[string]any{
			"matches":     []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": "/"}}},
			"backendRefs": []any{map[string]any{"group": "", "kind": "Service", "name": id.Name, "port": int64(backendPort(m)), "weight": int64(1)}},
		}},
	}}}
	route.SetGroupVersionKind(RouteKind)
	route.SetNamespace(id.Namespace)
	route.SetName(id.Name)
	route.SetLabels(id.Labels)
	return client.ApplyConfigurationFromUnstructured(route)
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}

// URL returns where users find the instance, with the shortest of its names.
func URL(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return "http://" + slices.MinFunc(hosts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
}
