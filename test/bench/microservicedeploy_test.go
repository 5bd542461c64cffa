// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
)

// Each MicroServiceDeploy has the children that the tutorial article about this kind gives it (Service, ServiceAccount,
// Deployment, configuration and autoscaler), a PodDisruptionBudget, and a share of the namespace's quota.
func TestAMicroServiceDeployCostsItsChildrenAndTwoStatuses(t *testing.T) {
	owner{
		kind: "microservicedeploy", resource: "microservicedeploys", list: &customv1.MicroServiceDeployList{},
		object: instance, namespaces: min(50, *objects), children: 7, statuses: 2,
		childKinds: []schema.GroupVersionKind{
			corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
			corev1.SchemeGroupVersion.WithKind("ConfigMap"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
			autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
		},
		shared: []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("ResourceQuota")},
		pods:   &appsv1.DeploymentList{},
		serves: func(d client.Object) bool { return d.(*appsv1.Deployment).Status.ReadyReplicas > 0 },
		drift: func(m client.Object) (client.Object, client.Patch) {
			service := &corev1.Service{}
			service.Namespace, service.Name = m.GetNamespace(), m.GetName()
			return service, mergePatch(`{"spec":{"selector":{"app.kubernetes.io/instance":"drifted"}}}`)
		},
		drifts: &corev1.ServiceList{},
		drifted: func(s client.Object) bool {
			return s.(*corev1.Service).Spec.Selector["app.kubernetes.io/instance"] == "drifted"
		},
	}.bench(t)
}

func instance(namespace string, i int) client.Object {
	m := &customv1.MicroServiceDeploy{}
	m.Namespace, m.Name = namespace, fmt.Sprintf("s%04d", i)
	m.Spec.MsName, m.Spec.Version, m.Spec.Image = "shop", "1.0", "shop:1.0"
	m.Spec.Autoscaling, m.Spec.Config = true, "LEVEL=info\nREGION=west"
	m.Spec.ResourceRequirements = common.Resources{
		Requests: map[corev1.ResourceName]common.Amount{"cpu": "10m", "memory": "16Mi"},
		Limits:   map[corev1.ResourceName]common.Amount{"memory": "16Mi"},
	}
	return m
}
