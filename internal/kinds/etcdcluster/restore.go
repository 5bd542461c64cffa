// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// A restore begins a second cluster beside the first, of one member, the seed, whose data is made of a
// backup. Until the seed serves nothing of the first is touched, and clients stay where they are; then,
// with one write of the status, it is the cluster, its lineage is the restore's, and all that is of
// the former lineage goes. It grows to its size as any cluster does. So at each moment exactly one of the
// two is whole, and the status says which.

// restoring reports whether a restore was taken up and is not done.
func restoring(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.Restore != nil && c.Status.Restore.Phase == etcdv1beta2.PhaseRestoring
}

// takesUp reports whether there is a restore, or a recovery, to begin with.
func (f facts) takesUp(c *etcdv1beta2.EtcdCluster) bool {
	return !restoring(c) && (f.takesRestore(c) || f.takesRecovery(c) != nil)
}

// takesRestore reports whether there is an EtcdRestore to begin with: what is left of the last has to go before.
func (f facts) takesRestore(c *etcdv1beta2.EtcdCluster) bool {
	return f.restoreAsked(c) && !f.isHeld(c) && !f.leftovers(c)
}

// restoreAsked reports whether someone asks for a restore that was not taken up yet, and can begin. A cluster that was
// never formed waits for it, since it is to begin with the backup.
func (f facts) restoreAsked(c *etcdv1beta2.EtcdCluster) bool {
	return f.restoreWaits(c) && (f.unfit == nil || c.Status.ClusterID == "")
}

// restoreWaits reports whether there is a restore that was not taken up yet. One that is done is none, also of an earlier
// cluster of the name.
func (f facts) restoreWaits(c *etcdv1beta2.EtcdCluster) bool {
	r := f.restore
	if r == nil || r.DeletionTimestamp != nil || r.Status.Succeeded {
		return false
	}
	return !c.Status.Restore.TookUp(r.UID)
}

// holder names that by which the user wants nothing to begin, and the cluster not to go over; empty: nothing.
func (f facts) holder(c *etcdv1beta2.EtcdCluster) string {
	switch {
	case c.Spec.Paused:
		return "spec.paused"
	case f.paused:
		return "annotation " + common.PausedAnnotation
	case c.Spec.Hibernate:
		return "spec.hibernate"
	}
	return ""
}

func (f facts) isHeld(c *etcdv1beta2.EtcdCluster) bool { return f.holder(c) != "" }

// isCalledOff reports whether the restore that was taken up is not to go on.
func (f facts) isCalledOff(c *etcdv1beta2.EtcdCluster) bool { return f.origin(c) == nil }

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

// seedServes reports whether the seed has been seen to serve what was restored: it leads itself, and its pod is
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

// observeRestore reads the EtcdRestore of the cluster's name, and what its seed lacks. Before the seed is made or made
// again it is asked how far the restore is: one that the cluster has gone over to would begin a second time.
func (r *reconciler) observeRestore(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	for _, read := range []func(context.Context, *etcdv1beta2.EtcdCluster, *facts) error{r.readRestore, r.observeFit} {
		if err := read(ctx, c, f); err != nil {
			return err
		}
	}
	if !restoring(c) || f.isCalledOff(c) || f.seed(c).pod != nil && !f.renewsSeed(c) {
		return nil
	}
	if err := r.observeProgress(ctx, c, f); err != nil || f.behind {
		return err
	}
	reason, message, err := backuppod.Missing(ctx, r.Live, c.Namespace, f.origin(c).needs())
	if err == nil && reason != "" {
		f.needs = &obstacle{reason, message}
	}
	return err
}

// readRestore asks the API server itself where the cache does not show the one that was taken up: what is called
// off once is never taken up again.
func (r *reconciler) readRestore(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	var err error
	f.restore, err = restoreIn(ctx, r.Client, c)
	if err != nil || !restoring(c) || c.Status.Restore.Recovery != nil || f.restore != nil && string(f.restore.UID) == c.Status.Restore.UID {
		return err
	}
	f.restore, err = restoreIn(ctx, r.Live, c)
	return err
}

// observeFit asks what keeps a restore that waits from beginning: until it can, the cluster is cared for as ever.
func (r *reconciler) observeFit(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if c.Status.ClusterID == "" || f.isHeld(c) || !f.restoreWaits(c) {
		return nil
	}
	reason, message, err := backuppod.Unfit(ctx, r.Live, f.restore)
	if err == nil && reason != "" {
		f.unfit = &obstacle{reason, message}
	}
	return err
}

// restoreIn is the EtcdRestore of the cluster's name, nil if there is none.
func restoreIn(ctx context.Context, reader client.Reader, c *etcdv1beta2.EtcdCluster) (*etcdv1beta2.EtcdRestore, error) {
	restore := &etcdv1beta2.EtcdRestore{}
	err := reader.Get(ctx, client.ObjectKeyFromObject(c), restore)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read EtcdRestore: %w", err)
	}
	return restore, nil
}

// renewsSeed reports whether the seed's pod has ended, or does not run and was made for another spec.
func (f facts) renewsSeed(c *etcdv1beta2.EtcdCluster) bool {
	pod := f.seed(c).pod
	if pod == nil || pod.DeletionTimestamp != nil {
		return false
	}
	other := pod.Annotations[wishesAnnotation] != seedWishes+wishes(c) || versionOf(pod) != wanted(c)
	return ended(pod) || runsSince(pod).IsZero() && other
}

func placeOf(r *etcdv1beta2.EtcdRestore) backuppod.Place {
	return backuppod.PlaceOf(r.Spec.BackupStorageType, r.Spec.Storage)
}

// confirmSeed asks the API server itself whether the seed's pod is there, when that is all that is left to be
// known: what is done next has the former data go.
func (r *reconciler) confirmSeed(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if !restoring(c) || f.isHeld(c) || f.isCalledOff(c) || !f.seedServes(c) || f.cutOff(c) != "" {
		return nil
	}
	pod, err := r.isThere(ctx, f.seed(c).pod, &corev1.Pod{})
	if err != nil {
		return err
	}
	wanted, err := r.isStillWanted(ctx, c, *f)
	f.seedIsLive = pod && wanted
	return err
}

// isStillWanted asks the API server itself whether the EtcdRestore is there, or the loss as it was.
func (r *reconciler) isStillWanted(ctx context.Context, c *etcdv1beta2.EtcdCluster, f facts) (bool, error) {
	if c.Status.Restore.Recovery == nil {
		return r.isThere(ctx, f.restore, &etcdv1beta2.EtcdRestore{})
	}
	return r.isLostLive(ctx, c, f)
}

// isThere asks the API server itself whether an object that was seen is there, and stays.
func (r *reconciler) isThere(ctx context.Context, seen, live client.Object) (bool, error) {
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(seen), live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read %T %s: %w", live, client.ObjectKeyFromObject(seen), err)
	}
	return err == nil && live.GetUID() == seen.GetUID() && live.GetDeletionTimestamp() == nil, nil
}
