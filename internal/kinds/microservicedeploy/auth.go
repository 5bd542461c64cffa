// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
)

const (
	proxyContainer = "auth-proxy"
	// proxyHealth is where the proxy tells how it is, and firstProxyPort the first at which
	// it listens for users. Ports of the application are passed over.
	proxyHealth    = 16000
	firstProxyPort = 16001
	// proxyDrain is short: a sidecar ends after the application, when no request comes any more.
	proxyDrain  = "1s"
	credentials = "/var/run/opcrew/credentials"
)

// proxyResources are what the proxy asks for; they count in the tenant's quota.
var proxyResources = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("20m"),
	corev1.ResourceMemory: resource.MustParse("32Mi"),
}

var proxyLimits = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("1"),
	corev1.ResourceMemory: resource.MustParse("96Mi"),
}

// route leads a port of the proxy to one of the application.
type route struct {
	target
	from int32
}

// routes are those of all TCP ports, in their order.
func routes(m *customv1.MicroServiceDeploy) []route {
	all := targets(m)
	taken := func(port int32) bool {
		return port == proxyHealth || slices.ContainsFunc(all, func(t target) bool { return t.number == port })
	}
	var out []route
	next := int32(firstProxyPort)
	for _, t := range all {
		if t.protocol != corev1.ProtocolTCP {
			continue
		}
		for taken(next) {
			next++
		}
		out = append(out, route{t, next})
		next++
	}
	return out
}

// proxy is the container that lets in only who knows the password. It stands before the
// application in the pod for as long as that runs, its own last requests included.
func proxy(m *customv1.MicroServiceDeploy, image string) *corev1ac.ContainerApplyConfiguration {
	args := []string{"auth-proxy", "--health", fmt.Sprint(proxyHealth), "--drain", proxyDrain, "--realm", m.Spec.MsName}
	c := corev1ac.Container().WithName(proxyContainer).WithImage(image).WithImagePullPolicy(corev1.PullIfNotPresent).
		WithRestartPolicy(corev1.ContainerRestartPolicyAlways)
	for _, r := range routes(m) {
		args = append(args, "--route", fmt.Sprintf("%d=%d", r.from, r.number))
		c.WithPorts(corev1ac.ContainerPort().WithName(r.name).WithContainerPort(r.from).WithProtocol(corev1.ProtocolTCP))
	}
	for _, source := range sources(m) {
		args = append(args, "--credentials", credentials+"/"+source.volume)
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName(source.volume).WithMountPath(credentials + "/" + source.volume).WithReadOnly(true))
	}
	return c.WithArgs(args...).
		WithReadinessProbe(corev1ac.Probe().WithPeriodSeconds(2).
			WithHTTPGet(corev1ac.HTTPGetAction().WithPath("/readyz").WithPort(intstr.FromInt32(proxyHealth)))).
		WithResources(corev1ac.ResourceRequirements().WithRequests(proxyResources).WithLimits(proxyLimits)).
		WithSecurityContext(corev1ac.SecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(65532).WithRunAsGroup(65532).
			WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// source is a Secret with credentials.
type source struct{ volume, secret string }

// sources lists the Secrets with credentials, that of the instance before the tenant's.
func sources(m *customv1.MicroServiceDeploy) []source {
	if m.Spec.Auth != nil {
		return []source{{"instance", m.Spec.Auth.SecretRef.Name}}
	}
	return []source{{"tenant", tenantAuth}}
}

// mount brings the hashes into the pod, and not the tenant's password beside them.
func (s source) mount() *corev1ac.VolumeApplyConfiguration {
	var items []*corev1ac.KeyToPathApplyConfiguration
	for _, key := range htpasswdKeys {
		items = append(items, corev1ac.KeyToPath().WithKey(key).WithPath(key))
	}
	return corev1ac.Volume().WithName(s.volume).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(s.secret).WithOptional(true).
		WithItems(items...))
}

// wall closes the application's own ports to everybody but the proxy beside it, where the
// network enforces policies.
func wall(m *customv1.MicroServiceDeploy) *networkingv1ac.NetworkPolicyApplyConfiguration {
	id := identity(m)
	open := networkingv1ac.NetworkPolicyIngressRule().WithPorts(policyPort(corev1.ProtocolTCP, proxyHealth))
	for _, r := range routes(m) {
		open.WithPorts(policyPort(corev1.ProtocolTCP, r.from))
	}
	for _, t := range targets(m) {
		if t.protocol != corev1.ProtocolTCP {
			open.WithPorts(policyPort(t.protocol, t.number))
		}
	}
	return networkingv1ac.NetworkPolicy(id.Name, id.Namespace).WithLabels(id.Labels).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector)).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(open))
}

func policyPort(protocol corev1.Protocol, port int32) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt32(port))
}
