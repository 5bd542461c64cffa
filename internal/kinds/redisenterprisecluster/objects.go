// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// nodeService gives the pods their names, and is where clients of a cluster start from. Pods that are not
// ready are told too: they find each other by it before they can be ready, and a primary serves
// its slots whether its neighbour's replica is in sync or not.
func nodeService(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ServiceApplyConfiguration {
	return withAnnotations(corev1ac.Service(c.Name, c.Namespace).WithLabels(labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(selector(c)).
			WithPorts(port("redis", redisv1alpha1.HomePort), port("metrics", redisv1alpha1.MetricsPort))), servicesAnnotations(c))
}

// pageService leads to the status page of any pod that is ready.
func pageService(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ServiceApplyConfiguration {
	annotations := servicesAnnotations(c)
	maps.Copy(annotations, c.Spec.UIAnnotations)
	return withAnnotations(corev1ac.Service(uiService(c), c.Namespace).WithLabels(labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(cmp.Or(c.Spec.UIServiceType, corev1.ServiceTypeClusterIP)).
			WithSelector(selector(c)).
			WithPorts(port("ui", redisv1alpha1.UIPort))), annotations)
}

func port(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithProtocol(corev1.ProtocolTCP).WithPort(number).WithTargetPort(intstr.FromInt32(number))
}

// servicesAnnotations are the annotations of both Services.
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

// disruptionBudget lets a drain take one pod at a time. A pod is ready again when its role in the ring is
// restored, so that two drains never take both copies of a shard.
func disruptionBudget(c *redisv1alpha1.RedisEnterpriseCluster) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return identity(c).DisruptionBudget()
}

// account is a ServiceAccount without rights, where the user wants one for the pods.
func account(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ServiceAccountApplyConfiguration {
	name, _ := serviceAccount(c)
	return corev1ac.ServiceAccount(name, c.Namespace).WithLabels(labels(c)).WithAutomountServiceAccountToken(false)
}

// config is redisConfig for servers that start.
func config(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(configMap(c), c.Namespace).WithLabels(labels(c)).WithData(map[string]string{configKey: configFile(c)})
}
