// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// user is the one that images of Redis and Valkey run as.
const user = 999

// statefulSet runs so many pods. All start at once, as a cluster that was stopped needs the majority of its
// primaries; the operator changes them itself, as it has primaries step down first.
func (r reading) statefulSet(c *redisv1alpha1.RedisEnterpriseCluster, pods int32) *appsv1ac.StatefulSetApplyConfiguration {
	const retain = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	spec := appsv1ac.StatefulSetSpec().
		WithReplicas(pods).
		WithServiceName(c.Name).
		WithPodManagementPolicy(appsv1.ParallelPodManagement).
		WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().WithType(appsv1.OnDeleteStatefulSetStrategyType)).
		WithPersistentVolumeClaimRetentionPolicy(appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicy().
			WithWhenDeleted(retain).WithWhenScaled(retain)).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector(c))).
		WithTemplate(r.template(c))
	if persistent(c) {
		spec.WithVolumeClaimTemplates(r.claimTemplate(c))
	}
	return appsv1ac.StatefulSet(c.Name, c.Namespace).WithLabels(labels(c)).WithSpec(spec)
}

// claimTemplate declares what claims are made of. The API server gives back neither their kind nor their
// version, so that declaring them would be drift for ever. Nor can labels of the user's stand there: what
// claims are made of cannot be changed.
func (r reading) claimTemplate(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceStorage: r.volume}))
	if class := c.Spec.PersistentSpec.StorageClassName; class != "" {
		spec.WithStorageClassName(class)
	}
	return (&corev1ac.PersistentVolumeClaimApplyConfiguration{}).WithName(dataVolume).WithLabels(selector(c)).WithSpec(spec)
}

func (r reading) template(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.PodTemplateSpecApplyConfiguration {
	account, _ := serviceAccount(c)
	spec := corev1ac.PodSpec().
		WithInitContainers(r.installer()).
		WithContainers(r.server(c, redisv1alpha1.Home), r.server(c, redisv1alpha1.Guest), r.agent(c)).
		WithVolumes(volumes(c)...).
		WithTerminationGracePeriodSeconds(gracePeriod(c)).
		WithEnableServiceLinks(false).
		WithServiceAccountName(cmp.Or(account, podtemplate.DefaultServiceAccount)).
		WithAutomountServiceAccountToken(false).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(user).WithRunAsGroup(user).
			WithFSGroup(user).WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault)))
	for _, side := range r.side {
		spec.WithContainers(podtemplate.Convert[*corev1ac.ContainerApplyConfiguration](side))
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
	return corev1ac.PodTemplateSpec().WithLabels(labels(c)).WithAnnotations(podAnnotations(c)).WithSpec(spec)
}

// settingsAnnotation has pods be others when settings are that servers read when they start: those stand in a file that
// no pod is recreated for.
const settingsAnnotation = "redis.opcrew.io/settings"

func podAnnotations(c *redisv1alpha1.RedisEnterpriseCluster) map[string]string {
	out := maps.Clone(c.Spec.PodAnnotations)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, c.Spec.RedisEnterprisePodAnnotations)
	if values := settings(c, restart); len(values) > 0 {
		out[settingsAnnotation] = hashOf(fmt.Sprint(values))[:16]
	}
	return out
}

func gracePeriod(c *redisv1alpha1.RedisEnterpriseCluster) int64 {
	if wanted := c.Spec.RedisEnterpriseTerminationGracePeriodSeconds; wanted != nil {
		return *wanted
	}
	return redisv1alpha1.DefaultGracePeriodSeconds
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
