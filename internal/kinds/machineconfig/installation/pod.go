// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	// nodeLabel is the label of a pod with the UID of its node.
	nodeLabel = "opcrew.io/machine-node"
	// longestName is how much of the name of a node is part of the name of a pod.
	longestName = 200
)

// podName returns the name of the pod with a task. It depends on the origin, so that an upgrade replaces the
// pod.
func podName(node *corev1.Node, t task, from origin) string {
	name := strings.TrimRight(node.Name[:min(len(node.Name), longestName)], "-.")
	return fmt.Sprintf("%s-%s-%.8s", t, name, ensure.Hash([]string{string(node.UID), from.image, from.ca}))
}

// pod declares the pod, which is root on the host of its node. It does not pass through the scheduler: the node may be
// cordoned or tainted.
func pod(node *corev1.Node, t task, from origin) *corev1ac.PodApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithNodeName(node.Name).
		WithRestartPolicy(corev1.RestartPolicyOnFailure).
		WithHostPID(true).WithHostNetwork(true). // a node whose cluster network is not ready yet must be configured, too
		WithDNSPolicy(corev1.DNSDefault).
		WithPriorityClassName("system-node-critical").
		WithTolerations(corev1ac.Toleration().WithOperator(corev1.TolerationOpExists)).
		WithServiceAccountName(machineorder.ServiceAccount).
		WithAutomountServiceAccountToken(true).WithEnableServiceLinks(false).
		WithContainers(container(t, from))
	return corev1ac.Pod(podName(node, t, from), machineorder.Namespace).
		WithLabels(map[string]string{"app.kubernetes.io/name": "machineconfig", nodeLabel: string(node.UID)}).
		WithSpec(spec)
}

func container(t task, from origin) *corev1ac.ContainerApplyConfiguration {
	args := []string{string(t), "--root", "/proc/1/root"} // the root of the host, with all its mounts
	switch {
	case t == uninstall:
		args = append(args, "--restore")
	case from.pinned:
		args = append(args, "--ca-fingerprint="+from.ca)
	}
	return corev1ac.Container().
		WithName(string(t)).WithImage(from.image).WithImagePullPolicy(corev1.PullIfNotPresent).
		WithCommand("/opcrew-machine").WithArgs(args...).
		WithEnv(corev1ac.EnvVar().WithName("NODE_NAME").WithValueFrom(corev1ac.EnvVarSource().
			WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("spec.nodeName")))).
		WithSecurityContext(corev1ac.SecurityContext().WithPrivileged(true).WithRunAsUser(0)).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError)
}
