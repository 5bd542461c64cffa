// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/workload"
)

// asMade is a cluster with the volumes that its StatefulSet was made with, where the spec asks for others: a pod cannot
// be given a volume, nor lose one, and a StatefulSet that asks for that makes a pod that is deleted no more.
// Another size alone is no other volume: claims that there are grow, if they are to.
func (f facts) asMade(c *redisv1alpha1.RedisEnterpriseCluster) *redisv1alpha1.RedisEnterpriseCluster {
	if f.otherVolumes(c) == "" {
		return c
	}
	out := *c
	out.Spec.PersistentSpec = nil
	if claim := claimOf(f.Set); claim != nil {
		size := workload.Asked(claim)
		out.Spec.PersistentSpec = &redisv1alpha1.PersistentSpec{
			StorageClassName: workload.ClassOf(claim), VolumeSize: redisv1alpha1.Amount(size.String()),
		}
	}
	return &out
}

// otherVolumes says what the spec asks for, and what runs in its place; "" where both are the same.
func (f facts) otherVolumes(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if f.Set == nil {
		return ""
	}
	claim := claimOf(f.Set)
	switch {
	case persistent(c) && claim == nil:
		return "persistentSpec asks for volumes, and the pods were made without"
	case !persistent(c) && claim != nil:
		return "The spec asks for no volumes, and the pods were made with them"
	case claim != nil && c.Spec.PersistentSpec.StorageClassName != workload.ClassOf(claim):
		return "persistentSpec asks for volumes of " + className(c.Spec.PersistentSpec.StorageClassName) +
			", and those of the pods are of " + className(workload.ClassOf(claim))
	}
	return ""
}

func className(class string) string { return cmp.Or(class, "the default storage class") }

// claimOf is what the claims of the pods are made of; nil where these have none.
func claimOf(set *appsv1.StatefulSet) *corev1.PersistentVolumeClaim {
	for i := range set.Spec.VolumeClaimTemplates {
		if claim := &set.Spec.VolumeClaimTemplates[i]; claim.Name == dataVolume {
			return claim
		}
	}
	return nil
}

// observeUnbound finds out why the claim of a pod that cannot be placed has no volume.
func (r *reconciler) observeUnbound(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f facts) (workload.Lack, error) {
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for name, pod := range f.Pods {
		if pod.Spec.NodeName != "" || !persistent(c) {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: dataVolume + "-" + name}, claim)
		if client.IgnoreNotFound(err) != nil {
			return workload.Lack{}, fmt.Errorf("read the claim of pod %s: %w", name, err)
		}
		if err == nil {
			claims[name] = claim
		}
	}
	told := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionPodsReady)
	known := told != nil && told.Reason == common.ReasonPodsNotReady
	claimOf := func(pod *corev1.Pod) *corev1.PersistentVolumeClaim { return claims[pod.Name] }
	return r.unbound.Why(ctx, client.ObjectKeyFromObject(c), f.byOrdinal(c), claimOf, known), nil
}
