// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/etcd"
)

// A restore begins a second cluster beside the first, of one member, the seed, whose data is made of a
// backup. Until the seed serves nothing of the first is touched, and clients stay where they are; then,
// with one write of the status, it is the cluster, its lineage is the restore's, and all that is of
// the former lineage goes. It grows to its size as any cluster does. So at each moment exactly one of the
// two is whole, and the status says which.

// restoring tells whether a restore was taken up and is not done.
func restoring(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.Restore != nil && c.Status.Restore.Phase == etcdv1beta2.PhaseRestoring
}

// takesUp tells whether there is a restore to begin with. One that is done is none, also of an earlier
// cluster of the name; and what is left of the last has to go before.
func (f facts) takesUp(c *etcdv1beta2.EtcdCluster) bool {
	r := f.restore
	if r == nil || r.DeletionTimestamp != nil || r.Status.Succeeded || restoring(c) || c.Spec.Paused || c.Spec.Hibernate {
		return false
	}
	return f.others.none() && (c.Status.Restore == nil || c.Status.Restore.UID != string(r.UID))
}

// isCalledOff tells whether the restore that was taken up is gone.
func (f facts) isCalledOff(c *etcdv1beta2.EtcdCluster) bool {
	return f.restore == nil || f.restore.DeletionTimestamp != nil || string(f.restore.UID) != c.Status.Restore.UID
}

// seed is the member that begins with the backup.
func (f facts) seed(c *etcdv1beta2.EtcdCluster) member {
	at := c.Status.Restore
	name := memberName(c, at.Serial)
	id := etcd.BootstrapID([]string{c.PeerURL(name)}, token(c))
	return member{
		name: name, serial: at.Serial, id: id, seed: true, started: true, client: c.ClientURL(name),
		pod: f.others.pod(name), claim: f.others.claim(name), patched: f.patched[name],
	}
}

// token is what first members of a lineage share. Ids are made of it: two lineages have none in common.
func token(c *etcdv1beta2.EtcdCluster) string {
	if restoring(c) {
		return string(c.UID) + "/" + c.Status.Restore.UID
	}
	return string(c.UID)
}

// seedServes tells whether the seed has been seen to serve what was restored: it leads itself, and its pod is
// there and stays.
func (f facts) seedServes(c *etcdv1beta2.EtcdCluster) bool {
	m := f.seed(c)
	if m.pod == nil || m.pod.DeletionTimestamp != nil || m.patched || ended(m.pod) || runsSince(m.pod).IsZero() {
		return false
	}
	leader, known := f.view.Leader()
	_, isMember := f.view.Member(m.id)
	return f.view.Err == nil && !f.view.Stale && isMember && len(f.view.Members) == 1 && known && leader == m.id && f.view.Healthy(m.id)
}

// observeRestore reads the EtcdRestore of the cluster's name, and what its seed lacks.
func (r *reconciler) observeRestore(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	restore := &etcdv1beta2.EtcdRestore{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(c), restore)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read EtcdRestore: %w", err)
	case err == nil:
		f.restore = restore
	}
	if !restoring(c) || f.isCalledOff(c) || f.seed(c).pod != nil {
		return nil
	}
	reason, message, err := backuppod.Missing(ctx, r.Live, c.Namespace, placeOf(f.restore).Needs())
	if err == nil && reason != "" {
		f.needs = &obstacle{reason, message}
	}
	return err
}

func placeOf(r *etcdv1beta2.EtcdRestore) backuppod.Place {
	return backuppod.PlaceOf(r.Spec.BackupStorageType, r.Spec.Storage)
}

// confirmSeed asks the API server itself whether the seed's pod is there, when that is all that is left to be
// known: what is done next has the former data go.
func (r *reconciler) confirmSeed(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if !restoring(c) || f.isCalledOff(c) || !f.seedServes(c) {
		return nil
	}
	live, seen := &corev1.Pod{}, f.seed(c).pod
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(seen), live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the pod of the restored member: %w", err)
	}
	f.seedIsLive = err == nil && live.UID == seen.UID && live.DeletionTimestamp == nil
	return nil
}
