// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"cmp"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// serverUser is the user ID that the images of Redis and Valkey run as.
const serverUser = 999

// StatefulSet declares the StatefulSet with a number of pods. All pods start at once, because a stopped cluster can
// only recover when most of its primaries run. The operator itself replaces outdated pods, one after the other.
func StatefulSet(r desired.Spec, c *redisv1alpha1.RedisEnterpriseCluster, pods int32) *appsv1ac.StatefulSetApplyConfiguration {
	const retain = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	spec := appsv1ac.StatefulSetSpec().
		WithReplicas(pods).
		WithServiceName(c.Name).
		WithPodManagementPolicy(appsv1.ParallelPodManagement).
		WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().WithType(appsv1.OnDeleteStatefulSetStrategyType)).
		WithPersistentVolumeClaimRetentionPolicy(appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicy().
			WithWhenDeleted(retain).WithWhenScaled(retain)).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(desired.Selector(c))).
		WithTemplate(template(r, c))
	if desired.Persistent(c) {
		spec.WithVolumeClaimTemplates(claimTemplate(r, c))
	}
	return appsv1ac.StatefulSet(c.Name, c.Namespace).WithLabels(desired.Labels(c)).WithSpec(spec)
}

// claimTemplate declares the template of the volume claims. It omits the kind and the version, because the API server
// drops both and opcrew would see a difference forever. It omits the user's labels, because the template is immutable.
func claimTemplate(r desired.Spec, c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceStorage: r.VolumeSize}))
	if class := c.Spec.PersistentSpec.StorageClassName; class != "" {
		spec.WithStorageClassName(class)
	}
	return (&corev1ac.PersistentVolumeClaimApplyConfiguration{}).WithName(desired.DataVolume).WithLabels(desired.Selector(c)).WithSpec(spec)
}

func template(r desired.Spec, c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.PodTemplateSpecApplyConfiguration {
	account, _ := desired.ServiceAccount(c)
	spec := corev1ac.PodSpec().
		WithInitContainers(newInstaller(r)).
		WithContainers(newServer(r, c, redisv1alpha1.Home), newServer(r, c, redisv1alpha1.Guest), newAgent(r, c)).
		WithVolumes(volumes(c)...).
		WithTerminationGracePeriodSeconds(desired.GracePeriod(c)).
		WithEnableServiceLinks(false).
		WithServiceAccountName(cmp.Or(account, podtemplate.DefaultServiceAccount)).
		WithAutomountServiceAccountToken(false).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(serverUser).WithRunAsGroup(serverUser).
			WithFSGroup(serverUser).WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault)))
	for _, side := range r.SideContainers {
		spec.WithContainers(sideContainer(side))
	}
	if c.Spec.PriorityClassName != "" {
		spec.WithPriorityClassName(c.Spec.PriorityClassName)
	}
	for _, secret := range c.Spec.PullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(secret.Name))
	}
	for _, alias := range c.Spec.HostAliases {
		spec.WithHostAliases(podtemplate.Convert[*corev1ac.HostAliasApplyConfiguration](alias))
	}
	placement(spec, c)
	return corev1ac.PodTemplateSpec().WithLabels(desired.Labels(c)).WithAnnotations(podAnnotations(c)).WithSpec(spec)
}

// sideContainer returns an additional container from the spec, with restricted permissions where the user sets none.
func sideContainer(side corev1.Container) *corev1ac.ContainerApplyConfiguration {
	security := podtemplate.Over(workload.Confined(), side.SecurityContext)
	security.Capabilities.Drop = []corev1.Capability{"ALL"} // even if the user lists other capabilities to drop
	return podtemplate.Convert[*corev1ac.ContainerApplyConfiguration](side).WithSecurityContext(security)
}

// settingsAnnotation is a pod annotation with a hash of the settings that servers read only when they start. A change
// of these settings must replace the pods. A change of the mounted file with these settings would not do that.
const settingsAnnotation = "redis.opcrew.io/settings"

func podAnnotations(c *redisv1alpha1.RedisEnterpriseCluster) map[string]string {
	out := maps.Clone(c.Spec.PodAnnotations)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, c.Spec.RedisEnterprisePodAnnotations)
	if values := desired.Settings(c, desired.AtStart); len(values) > 0 {
		out[settingsAnnotation] = desired.Hash(fmt.Sprint(values))[:16]
	}
	return out
}
