// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/workload"
)

// AsCreated returns the cluster with the volume settings that its StatefulSet was created with, if the spec has changed
// them since. Pods cannot gain or lose a volume later. A changed size is allowed, because claims can grow.
func AsCreated(c *redisv1alpha1.RedisEnterpriseCluster, set *appsv1.StatefulSet) *redisv1alpha1.RedisEnterpriseCluster {
	if Difference(c, set) == "" {
		return c
	}
	out := *c
	out.Spec.PersistentSpec = nil
	if claim := claimTemplate(set); claim != nil {
		size := workload.Requested(claim)
		out.Spec.PersistentSpec = &redisv1alpha1.PersistentSpec{
			StorageClassName: workload.ClassOf(claim), VolumeSize: redisv1alpha1.Amount(size.String()),
		}
	}
	return &out
}

// Difference describes how the volume settings in the spec differ from the pods' volumes; "" if they are the same.
func Difference(c *redisv1alpha1.RedisEnterpriseCluster, set *appsv1.StatefulSet) string {
	if set == nil {
		return ""
	}
	claim := claimTemplate(set)
	switch {
	case desired.Persistent(c) && claim == nil:
		return "persistentSpec requests volumes, but the pods were created without volumes"
	case !desired.Persistent(c) && claim != nil:
		return "The spec requests no volumes, but the pods were created with volumes"
	case claim != nil && c.Spec.PersistentSpec.StorageClassName != workload.ClassOf(claim):
		return "persistentSpec requests volumes of " + className(c.Spec.PersistentSpec.StorageClassName) +
			", but the pods have volumes of " + className(workload.ClassOf(claim))
	}
	return ""
}

func className(class string) string { return cmp.Or(class, "the default storage class") }

// claimTemplate returns the StatefulSet's template of the claims for data; nil if there is none.
func claimTemplate(set *appsv1.StatefulSet) *corev1.PersistentVolumeClaim {
	for i := range set.Spec.VolumeClaimTemplates {
		if claim := &set.Spec.VolumeClaimTemplates[i]; claim.Name == desired.DataVolume {
			return claim
		}
	}
	return nil
}
