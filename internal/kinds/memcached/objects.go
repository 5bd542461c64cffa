// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	appName       = "memcached"
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"

	// user is the user ID that memcached's images run as.
	user = 11211

	mebibyte = 1 << 20
)

// selector returns the labels that select the pods. A StatefulSet's selector is immutable, so it has only labels that
// never change. The managed-by label excludes pods that a Helm chart created under the same name.
func selector(m *cachev1alpha1.Memcached) map[string]string {
	return map[string]string{nameLabel: appName, instanceLabel: m.Name, common.ManagedByLabel: common.Name}
}

func labels(m *cachev1alpha1.Memcached) map[string]string {
	out := selector(m)
	maps.Copy(out, map[string]string{
		"app.kubernetes.io/component": "cache",
		"app.kubernetes.io/part-of":   "opcrew",
	})
	return out
}

// service declares the headless Service that gives each server a DNS name. A server that is not ready keeps its name,
// so that clients treat it as down instead of redistributing all keys.
func service(m *cachev1alpha1.Memcached) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(m.Name, m.Namespace).WithLabels(labels(m)).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(selector(m)).
			WithPorts(corev1ac.ServicePort().WithName(appName).WithProtocol(corev1.ProtocolTCP).
				WithPort(port(m)).WithTargetPort(intstr.FromString(appName))))
}

// serverList declares the ConfigMap with the list of servers. Clients can mount it.
func serverList(m *cachev1alpha1.Memcached) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(m.Name+"-servers", m.Namespace).WithLabels(labels(m)).
		WithData(map[string]string{"servers": strings.Join(servers(m, m.Spec.Size), "\n")})
}

// servers returns the DNS names of the first n servers, in order of their ordinals. A resize only appends names or cuts
// off the end of the list, as consistent hashing requires.
func servers(m *cachev1alpha1.Memcached, n int32) []string {
	var out []string
	for _, pod := range podNames(m, n) {
		out = append(out, fmt.Sprintf("%s.%s.%s.svc:%d", pod, m.Name, m.Namespace, port(m)))
	}
	return out
}

func podNames(m *cachev1alpha1.Memcached, n int32) []string { return identity(m).Names(n) }

// identity returns the names and labels by which opcrew finds the pods of a Memcached.
func identity(m *cachev1alpha1.Memcached) workload.Identity {
	return workload.Identity{Namespace: m.Namespace, Name: m.Name, Labels: labels(m), Selector: selector(m)}
}

// disruptionBudget declares a PodDisruptionBudget that lets a node drain evict one server after the other.
func disruptionBudget(m *cachev1alpha1.Memcached) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(m.Name, m.Namespace).WithLabels(labels(m)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector(m))))
}

// networkPolicy declares a NetworkPolicy that opens the memcached port and the exporter's port to clients. The servers
// do not talk to each other, and the operator does not connect to them.
func networkPolicy(m *cachev1alpha1.Memcached) *networkingv1ac.NetworkPolicyApplyConfiguration {
	n := workload.Network{Clients: workload.TCP(port(m)), Access: m.Spec.Access}
	if m.Spec.Exporter != nil {
		n.Open = workload.TCP(cachev1alpha1.ExporterPort)
	}
	return identity(m).NetworkPolicy(n)
}

func statefulSet(m *cachev1alpha1.Memcached) *appsv1ac.StatefulSetApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithContainers(container(m)).
		WithEnableServiceLinks(false).
		WithServiceAccountName(podtemplate.DefaultServiceAccount).
		WithAutomountServiceAccountToken(false).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(user).WithRunAsGroup(user).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithTopologySpreadConstraints(corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).WithTopologyKey(corev1.LabelHostname).WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(selector(m)))).
		WithTerminationGracePeriodSeconds(10)
	if m.Spec.Exporter != nil {
		spec.WithContainers(exporter(m))
	}
	template := corev1ac.PodTemplateSpec().WithLabels(labels(m)).WithSpec(spec)
	podtemplate.Override(template, m.Spec.Pod)
	return appsv1ac.StatefulSet(m.Name, m.Namespace).WithLabels(labels(m)).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(m.Spec.Size).
			WithServiceName(m.Name).
			WithPodManagementPolicy("Parallel").
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector(m))).
			WithTemplate(template))
}

func container(m *cachev1alpha1.Memcached) *corev1ac.ContainerApplyConfiguration {
	limit := *resource.NewQuantity(memory(m)+overhead(m), resource.BinarySI)
	probe := func(period int32) *corev1ac.ProbeApplyConfiguration {
		return corev1ac.Probe().WithPeriodSeconds(period).
			WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromString(appName)))
	}
	return corev1ac.Container().WithName(appName).
		WithImage(cmp.Or(m.Spec.Image, cachev1alpha1.DefaultImage)).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError). // reports why memcached failed
		WithCommand("memcached").
		WithArgs(
			"-m", fmt.Sprint(memory(m)/mebibyte),
			"-t", fmt.Sprint(value(m.Spec.Threads, cachev1alpha1.DefaultThreads)),
			"-c", fmt.Sprint(value(m.Spec.MaxConnections, cachev1alpha1.DefaultMaxConnections)),
			"-p", fmt.Sprint(port(m)),
		).
		WithPorts(corev1ac.ContainerPort().WithName(appName).WithContainerPort(port(m)).WithProtocol(corev1.ProtocolTCP)).
		WithReadinessProbe(probe(5)).
		WithLivenessProbe(probe(20)).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceMemory: limit, corev1.ResourceCPU: resource.MustParse("10m")}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: limit})).
		WithSecurityContext(workload.Restricted())
}

func exporter(m *cachev1alpha1.Memcached) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName("exporter").
		WithImage(cmp.Or(m.Spec.Exporter.Image, cachev1alpha1.DefaultExporterImage)).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithArgs(fmt.Sprintf("--memcached.address=localhost:%d", port(m))).
		WithPorts(corev1ac.ContainerPort().WithName("metrics").WithContainerPort(cachev1alpha1.ExporterPort).WithProtocol(corev1.ProtocolTCP)).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Mi"), corev1.ResourceCPU: resource.MustParse("5m")}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")})).
		WithSecurityContext(workload.Restricted())
}

// memory returns the memory for cached items, in bytes.
func memory(m *cachev1alpha1.Memcached) int64 {
	if m.Spec.Memory != nil {
		return m.Spec.Memory.Value()
	}
	q := resource.MustParse(cachev1alpha1.DefaultMemory)
	return q.Value()
}

// overhead returns how many bytes a server needs in addition to the memory for items: 32 MiB for the program and its
// hash table, an eighth of the items' memory for partly filled slabs, and 16 KiB of buffers per connection.
func overhead(m *cachev1alpha1.Memcached) int64 {
	connections := int64(value(m.Spec.MaxConnections, cachev1alpha1.DefaultMaxConnections))
	bytes := 32*mebibyte + memory(m)/8 + connections*16*1024
	return (bytes + mebibyte - 1) / mebibyte * mebibyte
}

func port(m *cachev1alpha1.Memcached) int32 { return value(m.Spec.Port, cachev1alpha1.DefaultPort) }

func value(wanted *int32, otherwise int32) int32 {
	if wanted != nil {
		return *wanted
	}
	return otherwise
}
