// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
)

const (
	appName = "memcached"
	port    = 11211
)

func labels(m *cachev1alpha1.Memcached) map[string]string {
	return map[string]string{"app.kubernetes.io/name": appName, "app.kubernetes.io/instance": m.Name}
}

func servers(m *cachev1alpha1.Memcached) []string {
	var out []string
	for i := range m.Spec.Size {
		out = append(out, fmt.Sprintf("%s-%d.%s.%s.svc:%d", m.Name, i, m.Name, m.Namespace, port))
	}
	return out
}

func fillService(m *cachev1alpha1.Memcached, service *corev1.Service) {
	service.Labels = labels(m)
	service.Spec.ClusterIP = corev1.ClusterIPNone
	service.Spec.PublishNotReadyAddresses = true
	service.Spec.Selector = labels(m)
	service.Spec.Ports = []corev1.ServicePort{{
		Name: appName, Port: port, TargetPort: intstr.FromString(appName), Protocol: corev1.ProtocolTCP,
	}}
}

func fillServerList(m *cachev1alpha1.Memcached, list *corev1.ConfigMap) {
	list.Labels = labels(m)
	list.Data = map[string]string{"servers": strings.Join(servers(m), "\n")}
}

func fillBudget(m *cachev1alpha1.Memcached, budget *policyv1.PodDisruptionBudget) {
	one := intstr.FromInt32(1)
	budget.Labels = labels(m)
	budget.Spec.MaxUnavailable = &one
	budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels(m)}
}

func fillStatefulSet(m *cachev1alpha1.Memcached, set *appsv1.StatefulSet) {
	set.Labels = labels(m)
	set.Spec.Replicas = &m.Spec.Size
	set.Spec.ServiceName = m.Name
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels(m)}
	set.Spec.Template.Labels = labels(m)
	set.Spec.Template.Spec.Containers = []corev1.Container{container(m)}
	set.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), RunAsUser: new(int64(port)), RunAsGroup: new(int64(port)),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func container(m *cachev1alpha1.Memcached) corev1.Container {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(appName)}}}
	image := m.Spec.Image
	if image == "" {
		image = cachev1alpha1.DefaultImage
	}
	return corev1.Container{
		Name: appName, Image: image,
		Command: []string{appName, "-m", "64", "-t", "4", "-c", "1024", "-p", fmt.Sprint(port)},
		Ports:   []corev1.ContainerPort{{Name: appName, ContainerPort: port}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("120Mi"), corev1.ResourceCPU: resource.MustParse("10m")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("120Mi")},
		},
		ReadinessProbe: probe, LivenessProbe: probe,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}
