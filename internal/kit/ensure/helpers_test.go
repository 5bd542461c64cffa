// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"cmp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shop returns the owner of all children in these tests.
func shop() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "shop", UID: "uid-of-shop"}}
}

func mustDeclare(t *testing.T, owner client.Object, child Child) *intent {
	t.Helper()
	in, err := declare(clientgoscheme.Scheme, owner, child)
	if err != nil {
		t.Fatalf("declaring a child: %v", err)
	}
	return in
}

// asServed returns a declared child as an API server would return it, without any defaults. Tests add the defaults that
// they need.
func asServed[O client.Object](t *testing.T, in *intent, into O) O {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.object.DeepCopy().Object, into); err != nil {
		t.Fatalf("reading %s: %v", in.Ref, err)
	}
	into.SetUID("uid-of-child")
	into.SetResourceVersion("7")
	return into
}

// web declares a Deployment with one container, as the kinds for applications do.
func web(change ...func(*appsv1ac.DeploymentApplyConfiguration, *corev1ac.ContainerApplyConfiguration)) Child {
	labels := map[string]string{"app": "web"}
	container := corev1ac.Container().WithName("main").WithImage("web:1").
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(8080)).
		WithEnv(corev1ac.EnvVar().WithName("MODE").WithValue("fast"))
	deployment := appsv1ac.Deployment("web", "demo").WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(2).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(corev1ac.PodSpec())))
	for _, c := range change {
		c(deployment, container)
	}
	deployment.Spec.Template.Spec.WithContainers(container)
	return Child{Object: deployment}
}

// defaults sets the fields that an API server would default in the Deployment web.
func defaults(d *appsv1.Deployment) {
	d.Generation = 1
	d.CreationTimestamp = metav1.Now()
	d.Spec.ProgressDeadlineSeconds = new(int32(600))
	d.Spec.RevisionHistoryLimit = new(int32(10))
	d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	pod := &d.Spec.Template.Spec
	pod.RestartPolicy, pod.DNSPolicy, pod.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, "default-scheduler"
	pod.TerminationGracePeriodSeconds = new(int64(30))
	pod.SecurityContext = &corev1.PodSecurityContext{}
	for i := range pod.Containers {
		c := &pod.Containers[i]
		c.TerminationMessagePath, c.ImagePullPolicy = "/dev/termination-log", corev1.PullIfNotPresent
		for j := range c.Ports {
			c.Ports[j].Protocol = cmp.Or(c.Ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}
