// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// observeBackups reads the EtcdBackups of a cluster that has lost all members.
func (r *reconciler) observeBackups(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if c.Status.ClusterID == "" || !f.noneLeft(c) {
		return nil
	}
	list := &etcdv1beta2.EtcdBackupList{}
	err := r.Live.List(ctx, list, client.InNamespace(c.Namespace))
	switch {
	case meta.IsNoMatchError(err):
		return nil // the CRD EtcdBackup is not installed
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

// noneLeft reports whether all voters in the last known member list are lost.
func (f facts) noneLeft(c *etcdv1beta2.EtcdCluster) bool {
	f.view = etcd.View{}
	members := f.members(c)
	return len(members) > 0 && !slices.ContainsFunc(members, func(m model.Member) bool { return m.Voter() && m.Lost == "" })
}

// isLostLive reports, from live reads, whether a majority of the members is proven to be lost. If so, the next step
// gives up all remaining members for good.
func (r *reconciler) isLostLive(ctx context.Context, c *etcdv1beta2.EtcdCluster, f facts) (bool, error) {
	var members []model.Member
	for _, m := range f.members(c) {
		m, err := r.taker().LiveMember(ctx, c, m)
		if err != nil {
			return false, err
		}
		m.Lost = model.NewJudge(c, r.Clock.Now(), false).Lost(m)
		members = append(members, m)
	}
	return recovery.Hopeless(members) && recovery.Unproven(members) == "", nil
}
