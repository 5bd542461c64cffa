// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package auth declares the authenticating proxy in front of an application, and the NetworkPolicy that closes the
// application's own ports. Package credentials has the passwords.
package auth

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
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/ports"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// ProxyContainer is the name of the container with the authenticating proxy.
	ProxyContainer = "auth-proxy"
	// AuthLabel is set on pods with a proxy. The NetworkPolicy applies only to these pods.
	AuthLabel = "opcrew.io/auth-proxy"
	// firstProxyPort is the first port that the proxy may use. The proxy serves its health checks on one port and
	// listens for users on the following ports. It skips ports that the application uses.
	firstProxyPort = 16000
	// proxyDrain is how long a proxy keeps serving after the deletion of its pod, while it makes clients reconnect to
	// another pod. The proxy is an ordinary container, because Kubernetes would stop a sidecar only after the
	// application has ended, which is too late.
	proxyDrain = "5s"
	// DrainBehindProxy is how many seconds the application keeps running after the deletion of its pod. It is longer
	// than proxyDrain, so that requests from the proxy still succeed.
	DrainBehindProxy = 8
	credentials      = "/var/run/opcrew/credentials"
)

// ProxyResources are the resource requests of the proxy. They count in the ResourceQuota of the namespace.
var ProxyResources = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("20m"),
	corev1.ResourceMemory: resource.MustParse("32Mi"),
}

// ProxyLimits are the resource limits of the proxy.
var ProxyLimits = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("1"),
	corev1.ResourceMemory: resource.MustParse("96Mi"),
}

// route maps From, a port of the proxy, to the port of the application to which the proxy forwards requests.
type route struct {
	ports.Target
	From int32
}

// flag formats the route as a command-line argument of the proxy.
func (r route) flag() string {
	if r.H2c {
		return fmt.Sprintf("%d=%d/h2c", r.From, r.Number)
	}
	return fmt.Sprintf("%d=%d", r.From, r.Number)
}

// Routes returns a route for each TCP port of the application, in order. health is the port on which the proxy serves
// its health checks.
func Routes(m *customv1.MicroServiceDeploy) (out []route, health int32) {
	all, last := ports.Targets(m), int32(firstProxyPort-1)
	next := func() int32 {
		for last++; slices.ContainsFunc(all, func(t ports.Target) bool { return t.Number == last }); {
			last++
		}
		return last
	}
	health = next()
	for _, t := range all {
		if t.Protocol == corev1.ProtocolTCP {
			out = append(out, route{t, next()})
		}
	}
	return out, health
}

// Container declares the proxy container, which forwards requests only from users with a valid password.
func Container(m *customv1.MicroServiceDeploy, image string) *corev1ac.ContainerApplyConfiguration {
	all, health := Routes(m)
	args := []string{"auth-proxy", "--health", fmt.Sprint(health), "--drain", proxyDrain, "--realm", m.Spec.MsName}
	c := corev1ac.Container().WithName(ProxyContainer).WithImage(image).WithImagePullPolicy(corev1.PullIfNotPresent)
	for _, r := range all {
		args = append(args, "--route", r.flag())
		c.WithPorts(corev1ac.ContainerPort().WithName(r.Name).WithContainerPort(r.From).WithProtocol(corev1.ProtocolTCP))
	}
	for _, source := range Sources(m) {
		args = append(args, "--credentials", credentials+"/"+source.volume)
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName(source.volume).WithMountPath(credentials + "/" + source.volume).WithReadOnly(true))
	}
	return c.WithArgs(args...).
		WithReadinessProbe(corev1ac.Probe().WithPeriodSeconds(2).
			WithHTTPGet(corev1ac.HTTPGetAction().WithPath("/readyz").WithPort(intstr.FromInt32(health)))).
		WithResources(corev1ac.ResourceRequirements().WithRequests(ProxyResources).WithLimits(ProxyLimits)).
		WithSecurityContext(corev1ac.SecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(65532).WithRunAsGroup(65532).
			WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// source is a Secret with credentials and the name of the volume that mounts it.
type source struct{ volume, Secret string }

// Sources lists the Secrets with credentials: the MicroServiceDeploy's own Secret, or the Secret that all
// MicroServiceDeploys of the namespace share.
func Sources(m *customv1.MicroServiceDeploy) []source {
	if m.Spec.Auth != nil {
		return []source{{"instance", m.Spec.Auth.SecretRef.Name}}
	}
	return []source{{"tenant", names.TenantAuth}}
}

// Trust returns the Secrets that the pod may mount although opcrew does not check the rights of the user who created
// the MicroServiceDeploy. This is only the Secret with the shared credentials, because the application cannot read it.
func Trust(m *customv1.MicroServiceDeploy) guard.Trust {
	if m.Spec.Auth != nil {
		return guard.Trust{} // the user chose this Secret, so the user's rights are checked
	}
	return guard.Trust{Volumes: []string{Sources(m)[0].volume}}
}

// Mount declares the volume with the password hashes. It leaves out the plain password that the shared Secret also
// contains.
func (s source) Mount() *corev1ac.VolumeApplyConfiguration {
	var items []*corev1ac.KeyToPathApplyConfiguration
	for _, key := range names.HtpasswdKeys {
		items = append(items, corev1ac.KeyToPath().WithKey(key).WithPath(key))
	}
	return corev1ac.Volume().WithName(s.volume).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(s.Secret).WithOptional(true).
		WithItems(items...))
}

// Policy declares a NetworkPolicy that closes the application's own ports, so that only the proxy in the pod reaches
// them. Pods without a proxy stay open. So do the proxy ports of old pods during a rollout.
func Policy(m *customv1.MicroServiceDeploy, r workload.Rollout) *networkingv1ac.NetworkPolicyApplyConfiguration {
	id := names.Identity(m)
	all, health := Routes(m)
	doors := append(proxyPorts(r), health)
	for _, r := range all {
		doors = append(doors, r.From)
	}
	slices.Sort(doors)
	open := networkingv1ac.NetworkPolicyIngressRule()
	for _, door := range slices.Compact(doors) {
		open.WithPorts(policyPort(corev1.ProtocolTCP, door))
	}
	for _, t := range ports.Targets(m) {
		if t.Protocol != corev1.ProtocolTCP {
			open.WithPorts(policyPort(t.Protocol, t.Number))
		}
	}
	return networkingv1ac.NetworkPolicy(id.Name, id.Namespace).WithLabels(id.Labels).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector).WithMatchLabels(map[string]string{AuthLabel: "true"})).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(open))
}

// proxyPorts returns the ports on which the proxies of running pods listen.
func proxyPorts(r workload.Rollout) []int32 {
	var out []int32
	for _, set := range r.Sets {
		for _, c := range set.Spec.Template.Spec.Containers {
			if c.Name != ProxyContainer || set.Status.Replicas == 0 {
				continue
			}
			for _, p := range c.Ports {
				out = append(out, p.ContainerPort)
			}
		}
	}
	return out
}

func policyPort(protocol corev1.Protocol, port int32) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt32(port))
}
