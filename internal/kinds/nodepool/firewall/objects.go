// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

func labels(component string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      "nodepool",
		"app.kubernetes.io/component": component,
		"app.kubernetes.io/part-of":   "opcrew",
	}
}

// document declares a ConfigMap with a document for the agents.
func document(name, text string) *corev1ac.ConfigMapApplyConfiguration {
	marked := labels("firewall")
	marked[nodefirewall.Label] = ""
	return corev1ac.ConfigMap(name, nodefirewall.Namespace).WithLabels(marked).WithData(map[string]string{nodefirewall.Key: text})
}

// daemonSet declares the agents.
func daemonSet(image string) *appsv1ac.DaemonSetApplyConfiguration {
	return onEveryNode(nodefirewall.Name, "firewall", agentPod(image))
}

// hostDaemonSet declares the agents that change firewalld and ufw.
func hostDaemonSet(image string) *appsv1ac.DaemonSetApplyConfiguration {
	return onEveryNode(nodefirewall.HostName, "host-firewall", hostPod(image))
}

// onEveryNode declares a DaemonSet for all nodes, because a node can join a pool at any time, and a node that left must
// be cleaned up.
func onEveryNode(name, component string, pod *corev1ac.PodSpecApplyConfiguration) *appsv1ac.DaemonSetApplyConfiguration {
	selector := map[string]string{"app.kubernetes.io/name": "nodepool", "app.kubernetes.io/component": component}
	return appsv1ac.DaemonSet(name, nodefirewall.Namespace).
		WithLabels(labels(component)).
		WithSpec(appsv1ac.DaemonSetSpec().
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector)).
			WithUpdateStrategy(appsv1ac.DaemonSetUpdateStrategy().WithRollingUpdate(
				appsv1ac.RollingUpdateDaemonSet().WithMaxUnavailable(intstr.FromString("10%")))).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels(component)).WithSpec(pod)))
}

// critical declares a pod that runs on any node, also on one that joins or is full.
func critical() *corev1ac.PodSpecApplyConfiguration {
	return corev1ac.PodSpec().
		WithHostNetwork(true).
		WithDNSPolicy(corev1.DNSDefault). // the cluster's DNS may not work yet on a node that joins
		WithPriorityClassName("system-node-critical").
		WithTolerations(corev1ac.Toleration().WithOperator(corev1.TolerationOpExists)).
		WithServiceAccountName(nodefirewall.Name).WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(10)
}

// hostPod has no credentials, because its container is root on the host.
func hostPod(image string) *corev1ac.PodSpecApplyConfiguration {
	return critical().
		WithHostPID(true).
		WithAutomountServiceAccountToken(false).
		WithTerminationGracePeriodSeconds(90). // a command that changes the firewall may need a minute
		WithContainers(program(image, "host-firewall", "256Mi").
			WithSecurityContext(corev1ac.SecurityContext().WithPrivileged(true).WithRunAsUser(0).WithReadOnlyRootFilesystem(true)))
}

func agentPod(image string) *corev1ac.PodSpecApplyConfiguration {
	return critical().
		WithContainers(container(image)).
		WithVolumes(corev1ac.Volume().WithName("state").WithHostPath(corev1ac.HostPathVolumeSource().
			WithPath(nodefirewall.StateDir).WithType(corev1.HostPathDirectoryOrCreate)))
}

// container has the one capability that nftables needs.
func container(image string) *corev1ac.ContainerApplyConfiguration {
	return program(image, "firewall", "128Mi").
		WithEnv(corev1ac.EnvVar().WithName("NODE_NAME").WithValueFrom(corev1ac.EnvVarSource().
			WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("spec.nodeName")))).
		WithSecurityContext(corev1ac.SecurityContext().
			WithRunAsUser(0).WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL").WithAdd("NET_ADMIN")).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("state").WithMountPath(nodefirewall.StateDir))
}

// program declares a container that requests nothing, so that a full node runs it, too.
func program(image, command, memory string) *corev1ac.ContainerApplyConfiguration {
	none := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0"), corev1.ResourceMemory: resource.MustParse("0")}
	return corev1ac.Container().
		WithName(command).WithImage(image).WithImagePullPolicy(corev1.PullIfNotPresent).
		WithCommand("/opcrew-machine").WithArgs(command).
		WithResources(corev1ac.ResourceRequirements().WithRequests(none).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)})).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError)
}
