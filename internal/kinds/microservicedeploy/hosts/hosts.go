// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosts decides which MicroServiceDeploy gets a host name that several of them claim. It declares the Ingress
// or HTTPRoute for the host names of a MicroServiceDeploy.
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

// RouteKind is the HTTPRoute of the Gateway API, which not every cluster has installed.
var RouteKind = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}

// RouteCRD is the name of the CRD of HTTPRoutes. If it is missing, opcrew creates an Ingress instead.
const RouteCRD = "httproutes.gateway.networking.k8s.io"

// Claimed returns the host names that a MicroServiceDeploy claims: one with its major version, and the bare name of the
// microservice. Of the major versions of a microservice, only one gets the bare name.
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

// Assign returns the claimed host names that the MicroServiceDeploy gets, and messages about host names that a rival
// has. There is usually no message if another major version of the same microservice has the bare name.
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

// holder describes who has a host name. It does not name MicroServiceDeploys in other namespaces, because users of this
// namespace may not be allowed to see them.
func holder(m, winner *customv1.MicroServiceDeploy) string {
	if winner.Namespace != m.Namespace {
		return " is in use in another namespace"
	}
	return fmt.Sprintf(" belongs to MicroServiceDeploy %s/%s", winner.Namespace, winner.Name)
}

// winner returns the MicroServiceDeploy that gets a host name. The microservice that already holds the name wins, or
// else the oldest. Among its major versions (each a MicroServiceDeploy), one with spec.current wins, then the oldest.
// The result does not depend on which of them is being reconciled.
func winner(claimants []*customv1.MicroServiceDeploy, host string) *customv1.MicroServiceDeploy {
	first := slices.MinFunc(claimants, func(a, b *customv1.MicroServiceDeploy) int {
		return cmp.Or(lacking(a, host)-lacking(b, host), older(a, b))
	})
	return slices.MinFunc(claimants, func(a, b *customv1.MicroServiceDeploy) int {
		return cmp.Or(rank(a, first, host)-rank(b, first, host), precedence(a, b, host))
	})
}

// precedence is negative if a wins over b. Both are major versions of one microservice and have the same rank. The
// older one wins the bare name. For another name, or if both were created in the same second, the one that already has
// the name keeps it.
func precedence(a, b *customv1.MicroServiceDeploy, host string) int {
	has := lacking(a, host) - lacking(b, host)
	if host == bareHost(a) {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), has, older(a, b))
	}
	return cmp.Or(has, older(a, b))
}

// lacking returns 0 for a MicroServiceDeploy that already has the host name, and 1 for any other. The lower number
// wins, so an older MicroServiceDeploy that newly claims a host name does not take it from the one that has it.
func lacking(m *customv1.MicroServiceDeploy, host string) int {
	if slices.Contains(m.Status.Hosts, host) {
		return 0
	}
	return 1
}

// rank returns the rank of a claimant. The lowest rank wins; age matters only between equal ranks. The rank is 2 if m
// and first belong to different microservices. Otherwise, it is 0 for the bare host name if m has spec.current, and 1
// in all other cases.
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

// bareHost returns the host name of the microservice without a major version.
func bareHost(m *customv1.MicroServiceDeploy) string { return m.Spec.MsName + "." + m.Spec.BaseDomain }

// siblings reports whether two MicroServiceDeploys are major versions of the same microservice.
func siblings(a, b *customv1.MicroServiceDeploy) bool {
	return a.Namespace == b.Namespace && a.Spec.MsName == b.Spec.MsName
}

// Insists reports whether spec.current is true: the user decides that this MicroServiceDeploy gets the bare name of the
// microservice.
func Insists(m *customv1.MicroServiceDeploy) bool { return m.Spec.Current != nil && *m.Spec.Current }

// backendPort returns the port of the Service to which requests for the host names go: its first TCP port.
func backendPort(m *customv1.MicroServiceDeploy) int32 {
	for _, p := range names.Ports(m) {
		if workload.Protocol(p) == corev1.ProtocolTCP {
			return p.Port
		}
	}
	return names.Ports(m)[0].Port
}

// Ingress declares the Ingress that routes the host names of a MicroServiceDeploy to its Service.
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

// Route declares the HTTPRoute that routes the host names of a MicroServiceDeploy from a Gateway to its Service.
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

// URL returns the URL of the MicroServiceDeploy, with the shortest of its host names.
func URL(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return "http://" + slices.MinFunc(hosts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
}
