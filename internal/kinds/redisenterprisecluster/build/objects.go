// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package build declares the children of a Redis cluster: the StatefulSet with its pod template, the Services, and
// other objects. Package access declares the Secrets.
package build

import (
	"cmp"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// NodeService declares the Service that gives the pods DNS names and that clients connect to first. It includes pods
// that are not ready: servers must find each other before they are ready, and a primary without a replica still serves.
func NodeService(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ServiceApplyConfiguration {
	return withAnnotations(corev1ac.Service(c.Name, c.Namespace).WithLabels(desired.Labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(desired.Selector(c)).
			WithPorts(port("redis", redisv1alpha1.HomePort), port("metrics", redisv1alpha1.MetricsPort))), servicesAnnotations(c))
}

// PageService declares the Service of the status page. Every ready pod serves the page.
func PageService(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ServiceApplyConfiguration {
	annotations := servicesAnnotations(c)
	maps.Copy(annotations, c.Spec.UIAnnotations)
	return withAnnotations(corev1ac.Service(desired.UIService(c), c.Namespace).WithLabels(desired.Labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(cmp.Or(c.Spec.UIServiceType, corev1.ServiceTypeClusterIP)).
			WithSelector(desired.Selector(c)).
			WithPorts(port("ui", redisv1alpha1.UIPort))), annotations)
}

func port(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithProtocol(corev1.ProtocolTCP).WithPort(number).WithTargetPort(intstr.FromInt32(number))
}

// servicesAnnotations returns the annotations that the spec sets for the Service of the pods and for the Service of the
// status page.
func servicesAnnotations(c *redisv1alpha1.RedisEnterpriseCluster) map[string]string {
	out := map[string]string{}
	if c.Spec.Services != nil {
		maps.Copy(out, c.Spec.Services.ServicesAnnotations)
	}
	return out
}

func withAnnotations(service *corev1ac.ServiceApplyConfiguration, annotations map[string]string) *corev1ac.ServiceApplyConfiguration {
	if len(annotations) == 0 {
		return service
	}
	return service.WithAnnotations(annotations)
}

// DisruptionBudget declares a PodDisruptionBudget that lets node drains evict one pod after the other. An evicted pod
// becomes ready only when it has its data again, so that two drains never evict both copies of a shard.
func DisruptionBudget(c *redisv1alpha1.RedisEnterpriseCluster) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return desired.Identity(c).DisruptionBudget()
}

// ServiceAccount declares the service account of the pods, which has no permissions.
func ServiceAccount(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ServiceAccountApplyConfiguration {
	name, _ := desired.ServiceAccount(c)
	return corev1ac.ServiceAccount(name, c.Namespace).WithLabels(desired.Labels(c)).WithAutomountServiceAccountToken(false)
}

// ConfigMap declares the configuration file with redisConfig, which servers read when they start.
func ConfigMap(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(desired.ConfigMap(c), c.Namespace).WithLabels(desired.Labels(c)).WithData(map[string]string{configKey: desired.ConfigFile(c)})
}

// NetworkPolicy opens the client ports to clients, the operator and the servers themselves. Only servers may reach the
// cluster bus. The metrics port and the ports of the user's own containers are open to all.
func NetworkPolicy(c *redisv1alpha1.RedisEnterpriseCluster, operator string) *networkingv1ac.NetworkPolicyApplyConfiguration {
	const home, guest = redisv1alpha1.HomePort, redisv1alpha1.GuestPort
	return desired.Identity(c).NetworkPolicy(workload.Network{
		Clients: workload.TCP(home, guest, redisv1alpha1.UIPort),
		Inner:   workload.TCP(home+redisv1alpha1.BusOffset, guest+redisv1alpha1.BusOffset),
		Open:    append(workload.TCP(redisv1alpha1.MetricsPort), workload.PortsOf(desired.SideContainers(c))...),
		Access:  c.Spec.Access, Operator: operator,
	})
}

// Objects declares the children other than the Secrets and the StatefulSet. operator is the namespace of the operator.
// While the spec is invalid, Objects omits the ConfigMap, so that opcrew does not change it.
func Objects(c *redisv1alpha1.RedisEnterpriseCluster, operator string, valid bool) []ensure.Child {
	objects := []runtime.ApplyConfiguration{NetworkPolicy(c, operator), NodeService(c), PageService(c), DisruptionBudget(c)}
	if _, created := desired.ServiceAccount(c); created {
		objects = append(objects, ServiceAccount(c))
	}
	if valid {
		objects = append(objects, ConfigMap(c))
	}
	out := make([]ensure.Child, 0, len(objects)+1)
	for _, object := range objects {
		out = append(out, ensure.Child{Object: object})
	}
	return out
}
