// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// user is the uid and gid that the backup pod runs with. The files on the volumes belong to this group.
const user = 1000

// pod declares the pod of one attempt. The pod reports its result in its termination message. It gets a ServiceAccount
// token only if the spec names a ServiceAccount other than default.
func pod(b *etcdv1beta2.EtcdBackup, image string, cluster *etcdv1beta2.EtcdCluster, w work, order string) *corev1ac.PodApplyConfiguration {
	policy := ptr.Deref(b.Spec.Pod, etcdv1beta2.WorkerPolicy{})
	spec := corev1ac.PodSpec().
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithActiveDeadlineSeconds(int64((limitOf(b, w.task) + slack).Seconds())).
		WithTerminationGracePeriodSeconds(10).
		WithEnableServiceLinks(false).
		WithAutomountServiceAccountToken(podtemplate.NamesAccount(policy.ServiceAccountName)).
		WithNodeSelector(policy.NodeSelector).
		WithSecurityContext(corev1ac.PodSecurityContext().WithRunAsNonRoot(true).WithRunAsUser(user).WithRunAsGroup(user).WithFSGroup(user).
			WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(worker(image, mounts(b, cluster, w), w, policy)).
		WithVolumes(volumes(mounts(b, cluster, w))...)
	if policy.ServiceAccountName != "" {
		spec.WithServiceAccountName(policy.ServiceAccountName)
	}
	for _, t := range policy.Tolerations {
		spec.WithTolerations(podtemplate.Convert[*corev1ac.TolerationApplyConfiguration](t))
	}
	for _, s := range policy.ImagePullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(s.Name))
	}
	return corev1ac.Pod(w.podName(b), b.Namespace).
		WithLabels(w.labels()).
		WithAnnotations(map[string]string{orderAnnotation: order, generationAnnotation: strconv.FormatInt(b.Generation, 10), settingsAnnotation: declared(b)}).
		WithSpec(spec)
}

func worker(image string, mounts []backuppod.Mount, w work, policy etcdv1beta2.WorkerPolicy) *corev1ac.ContainerApplyConfiguration {
	out := backuppod.WithOrder(corev1ac.Container().WithName(string(w.task)).
		WithImage(image).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithResources(resources(w, policy)).
		WithSecurityContext(workload.Restricted().WithReadOnlyRootFilesystem(true)), string(w.task), orderAnnotation)
	backuppod.WithMounts(out, mounts)
	return out
}

// resources returns the resources of the backup container: those in the spec, or defaults. Saving streams the data and
// needs little memory. A verification loads all keys and has no memory limit, as their size is not known in advance.
func resources(w work, policy etcdv1beta2.WorkerPolicy) *corev1ac.ResourceRequirementsApplyConfiguration {
	if policy.Resources != nil {
		return podtemplate.Convert[*corev1ac.ResourceRequirementsApplyConfiguration](policy.Resources)
	}
	out := corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi")})
	if w.task == save {
		out.WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")})
	}
	return out
}

func mounts(b *etcdv1beta2.EtcdBackup, cluster *etcdv1beta2.EtcdCluster, w work) []backuppod.Mount {
	out := placeOf(b).Mounts(false) // not read-only, because a verification also writes its result into the storage
	if w.task == verify {
		scratch := corev1ac.Volume().WithName("scratch").WithEmptyDir(corev1ac.EmptyDirVolumeSource())
		return append(out, backuppod.Mount{Name: "scratch", Path: scratchMount, Volume: scratch})
	}
	if secret := tlsSecret(b, cluster); secret != "" {
		out = append(out, backuppod.SecretMount("tls", tlsMount, secret))
	}
	return out
}

func volumes(mounts []backuppod.Mount) []*corev1ac.VolumeApplyConfiguration {
	var out []*corev1ac.VolumeApplyConfiguration
	for _, m := range mounts {
		out = append(out, m.Volume)
	}
	return out
}
