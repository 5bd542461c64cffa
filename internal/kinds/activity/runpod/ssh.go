// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package runpod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

const (
	// sshUser is the user of the program in the pod.
	sshUser = 65532
	// sshFarewell is how many seconds the program in the pod gets to end the command over another connection and to
	// report the result, in addition to the grace period of the command.
	sshFarewell = 30
	// sshSlack is how many seconds later than its own limits the kubelet ends the program.
	sshSlack = 300
)

// OverSSH declares the pod that runs the command on a host outside the cluster, over SSH. It has no privileges, and no
// ServiceAccount token.
func OverSSH(a *egov1.Activity, start *run.Start, image string) *corev1ac.PodApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithAutomountServiceAccountToken(false).WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(run.Grace(a)+sshFarewell).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(sshUser).WithRunAsGroup(sshUser).WithFSGroup(sshUser).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(sshRunner(image)).
		WithVolumes(
			// All files are readable for the group of the pod, because their owner is root.
			order().WithDownwardAPI(order().DownwardAPI.WithDefaultMode(0o440)),
			corev1ac.Volume().WithName("secrets").
				WithSecret(corev1ac.SecretVolumeSource().WithSecretName(run.PodName(a, run.Number(a))).WithDefaultMode(0o440)))
	if limit := a.Spec.TimeoutSeconds; limit != nil {
		spec.WithActiveDeadlineSeconds(run.Deadline(a) + *limit + run.Grace(a) + sshFarewell + sshSlack)
	}
	stay(spec)
	return described(a, start, spec)
}

func sshRunner(image string) *corev1ac.ContainerApplyConfiguration {
	room := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")}
	return corev1ac.Container().
		WithName(run.Container).WithImage(image).WithImagePullPolicy(corev1.PullIfNotPresent).
		WithArgs("run-over-ssh", "--order", orderDir+"/"+orderFile, "--secrets", secretsDir).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")}).
			WithLimits(room)).
		WithTerminationMessagePath(corev1.TerminationMessagePathDefault).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName("order").WithMountPath(orderDir).WithReadOnly(true),
			corev1ac.VolumeMount().WithName("secrets").WithMountPath(secretsDir).WithReadOnly(true))
}
