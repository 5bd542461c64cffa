// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// observeBackups reads the EtcdBackups of a cluster of which nothing is left, and of no other.
func (r *reconciler) observeBackups(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if c.Status.ClusterID == "" || !f.noneLeft(c) {
		return nil
	}
	list := &etcdv1beta2.EtcdBackupList{}
	err := r.Live.List(ctx, list, client.InNamespace(c.Namespace))
	switch {
	case meta.IsNoMatchError(err):
		return nil // the kind is not installed
	case err != nil:
		return fmt.Errorf("list EtcdBackups: %w", err)
	}
	for i := range list.Items {
		if of := list.Items[i].Spec.EtcdCluster; of != nil && of.Name == c.Name {
			f.backups = append(f.backups, &list.Items[i])
		}
	}
	return nil
}

// noneLeft reports whether every member that etcd named last is lost.
func (f facts) noneLeft(c *etcdv1beta2.EtcdCluster) bool {
	f.view = etcd.View{}
	members := f.members(c)
	return len(members) > 0 && !slices.ContainsFunc(members, func(m member) bool { return m.voter() && m.lost == "" })
}

// isLostLive asks the API server itself whether a majority is proven to be gone: what follows makes those that
// are left other owners to the cluster.
func (r *reconciler) isLostLive(ctx context.Context, c *etcdv1beta2.EtcdCluster, f facts) (bool, error) {
	d := decision{}
	live := facts{now: f.now, nodes: map[string]node{}, nodesKnown: true}
	for _, m := range f.members(c) {
		of, m, err := r.liveMember(ctx, c, m)
		if err != nil {
			return false, err
		}
		maps.Copy(live.nodes, of.nodes)
		m.lost = of.lost(c, m)
		d.members = append(d.members, m)
	}
	return hopeless(d) && live.unproven(d) == "", nil
}
