// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/restore"
)

// holder names the setting of the user that blocks a restore. The restore then does not start, or the cluster does not
// switch to the restored data. holder returns "" if no setting blocks the restore.
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

// observeRestore reads the EtcdRestore with the cluster's name, and the Secrets and claims that the restore needs.
// Before opcrew creates the seed, the first restored member, it reads the status from the API server, because a
// completed restore must not start again.
func (r *reconciler) observeRestore(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	for _, read := range []func(context.Context, *etcdv1beta2.EtcdCluster, *facts) error{r.readRestore, r.observeFit} {
		if err := read(ctx, c, f); err != nil {
			return err
		}
	}
	if !model.Restoring(c) {
		return nil
	}
	in := f.restoreInput(c)
	if in.IsCalledOff() || in.Seed().Pod != nil && !in.RecreatesSeed() {
		return nil
	}
	if err := r.observeProgress(ctx, c, f); err != nil || f.behind {
		return err
	}
	reason, message, err := backuppod.Missing(ctx, r.Live, c.Namespace, in.Origin().Needs())
	if err == nil && reason != "" {
		f.needs = model.NewObstacle(reason, message)
	}
	return err
}

// readRestore reads the EtcdRestore. If the cache lacks the restore in progress, readRestore reads from the API server:
// a stale cache must not cancel a restore, because a canceled restore can never continue.
func (r *reconciler) readRestore(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	var err error
	f.restore, err = restoreIn(ctx, r.Client, c)
	if err != nil || !model.Restoring(c) || c.Status.Restore.Recovery != nil || f.restore != nil && string(f.restore.UID) == c.Status.Restore.UID {
		return err
	}
	f.restore, err = restoreIn(ctx, r.Live, c)
	return err
}

// observeFit checks whether anything prevents an EtcdRestore from starting, and records the reason. Until the
// EtcdRestore can start, the cluster is reconciled as usual.
func (r *reconciler) observeFit(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if c.Status.ClusterID == "" || f.holder(c) != "" || !f.restoreInput(c).Waits() {
		return nil
	}
	reason, message, err := backuppod.CannotBegin(ctx, r.Live, f.restore)
	if err == nil && reason != "" {
		f.unfit = model.NewObstacle(reason, message)
	}
	return err
}

// restoreIn returns the EtcdRestore with the cluster's name; nil if there is none.
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

// confirmSeed checks with live reads that the restored member's pod exists and the restore was not canceled. The next
// step switches the cluster to this member and deletes the old data.
func (r *reconciler) confirmSeed(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if !model.Restoring(c) || f.holder(c) != "" {
		return nil
	}
	in := f.restoreInput(c)
	if in.IsCalledOff() || !in.SeedServes() || in.Lineage.CutOff() != "" {
		return nil
	}
	pod, err := r.isThere(ctx, in.Seed().Pod, &corev1.Pod{})
	if err != nil {
		return err
	}
	wanted, err := r.isStillWanted(ctx, c, *f)
	f.seedIsLive = pod && wanted
	return err
}

// isStillWanted reports, from live reads, whether the EtcdRestore still exists or, in a recovery, the quorum is still
// lost.
func (r *reconciler) isStillWanted(ctx context.Context, c *etcdv1beta2.EtcdCluster, f facts) (bool, error) {
	if c.Status.Restore.Recovery == nil {
		return r.isThere(ctx, f.restore, &etcdv1beta2.EtcdRestore{})
	}
	return r.isLostLive(ctx, c, f)
}

// isThere reports, from a live read, whether an object still exists and is not being deleted.
func (r *reconciler) isThere(ctx context.Context, seen, live client.Object) (bool, error) {
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(seen), live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read %T %s: %w", live, client.ObjectKeyFromObject(seen), err)
	}
	return err == nil && live.GetUID() == seen.GetUID() && live.GetDeletionTimestamp() == nil, nil
}

// restoreInput collects the input for decisions about a restore.
func (f facts) restoreInput(c *etcdv1beta2.EtcdCluster) *restore.Input {
	members := f.members(c)
	in := &restore.Input{
		Cluster: c, View: f.view, Restore: f.restore, Lineage: f.lineage(c, members), Recovery: f.recoveryInput(c, members),
		Unfit: f.unfit, Blocked: cmp.Or(f.needs, f.tls), HeldBy: f.holder(c), SeedIsLive: f.seedIsLive,
	}
	if c.Status.Restore != nil {
		in.SeedPatched = f.patched[model.MemberName(c, c.Status.Restore.Serial)]
	}
	return in
}
