// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	nodev1ac "k8s.io/client-go/applyconfigurations/node/v1"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

var labels = map[string]string{"app": "web"}

func settings(namespace string, data map[string]string) ensure.Child {
	return ensure.Child{Object: corev1ac.ConfigMap("settings", namespace).WithData(data)}
}

func settingsOf(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}}
}

func service(namespace string) ensure.Child {
	return ensure.Child{Object: corev1ac.Service("web", namespace).WithSpec(corev1ac.ServiceSpec().
		WithSelector(labels).
		WithPorts(corev1ac.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http"))))}
}

func account(namespace string) ensure.Child {
	return ensure.Child{Object: corev1ac.ServiceAccount("web", namespace).WithAutomountServiceAccountToken(false)}
}

// class declares a RuntimeClass. RuntimeClasses are cluster-scoped, so its name is that of the test's namespace.
func class(namespace, handler string) ensure.Child {
	return ensure.Child{ReplaceOn: []string{"handler"}, Object: nodev1ac.RuntimeClass(namespace).WithHandler(handler).
		WithScheduling(nodev1ac.Scheduling().
			WithNodeSelector(map[string]string{"pool": namespace}).
			WithTolerations(corev1ac.Toleration().WithKey("pool").WithOperator("Exists"))).
		WithOverhead(nodev1ac.Overhead().WithPodFixed(corev1.ResourceList{"cpu": resource.MustParse("1000m")}))}
}

func classOf(namespace string) *nodev1.RuntimeClass {
	return &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
}

// deployment declares a Deployment like those that opcrew creates for applications. The API server sets many defaults
// in it.
func deployment(namespace, image string, replicas int32) ensure.Child {
	probe := corev1ac.Probe().WithHTTPGet(corev1ac.HTTPGetAction().WithPath("/").WithPort(intstr.FromString("http")))
	container := corev1ac.Container().WithName("main").WithImage(image).
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(8080)).
		WithEnv(corev1ac.EnvVar().WithName("EMPTY").WithValue(""),
			corev1ac.EnvVar().WithName("POD").WithValueFrom(corev1ac.EnvVarSource().
				WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.name")))).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{"cpu": resource.MustParse("1000m"), "memory": resource.MustParse("1024Mi")})).
		WithReadinessProbe(probe).
		WithSecurityContext(corev1ac.SecurityContext().WithPrivileged(false)).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("tmp").WithMountPath("/tmp"))
	pod := corev1ac.PodSpec().WithContainers(container).
		WithHostNetwork(false).
		WithTolerations(corev1ac.Toleration().WithKey("spot").WithOperator("Exists")).
		WithVolumes(
			corev1ac.Volume().WithName("tmp").WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
			corev1ac.Volume().WithName("all").WithProjected(corev1ac.ProjectedVolumeSource().WithSources(
				corev1ac.VolumeProjection().WithServiceAccountToken(corev1ac.ServiceAccountTokenProjection().WithPath("token")))))
	return ensure.Child{Object: appsv1ac.Deployment("web", namespace).WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(replicas).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(pod)))}
}

// scaledDeployment declares a Deployment with replicas that an autoscaler owns.
func scaledDeployment(namespace, image string, replicas int32) ensure.Child {
	child := deployment(namespace, image, replicas)
	child.Carry = []string{"spec.replicas"}
	return child
}

func deploymentOf(namespace string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
}
