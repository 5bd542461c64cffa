// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// observeHomes reads which nodes the volumes of unschedulable pods are bound to, and why a claim has no volume.
func (r *reconciler) observeHomes(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	var pods []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(f.pods)) {
		pods = append(pods, f.pods[name])
	}
	last := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterMembersReady)
	known := last != nil && last.Reason == etcdv1beta2.ReasonMemberNotReady
	claimOf := func(pod *corev1.Pod) *corev1.PersistentVolumeClaim { return f.claims[pod.Name] }
	f.unbound = r.unbound.Why(ctx, client.ObjectKeyFromObject(c), pods, claimOf, known)
	f.disks = map[string]model.Disk{}
	for name, pod := range f.pods {
		d, err := r.taker().ReadDisk(ctx, r.Client, pod, f.claims[name])
		if err != nil {
			return err
		}
		f.disks[name] = d
	}
	return nil
}
