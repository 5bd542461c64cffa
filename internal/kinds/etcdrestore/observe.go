// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdrestore

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kit"
)

type reconciler struct{ *kit.Tools }

// facts are all that is read about a restore.
type facts struct {
	// cluster is the one of its name, nil if there is none.
	cluster *etcdv1beta2.EtcdCluster
	// unfit and why tell what keeps it from being taken up; empty: nothing that is known here.
	unfit, why string
}

// Observe reads the cluster.
func (r *reconciler) Observe(ctx context.Context, restore *etcdv1beta2.EtcdRestore) (facts, error) {
	cluster := &etcdv1beta2.EtcdCluster{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: restore.Namespace, Name: restore.Spec.EtcdCluster.Name}, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return facts{}, nil
	case err != nil:
		return facts{}, fmt.Errorf("read EtcdCluster: %w", err)
	}
	f := facts{cluster: cluster}
	if restore.Status.Succeeded || cluster.Status.Restore.TookUp(restore.UID) {
		return f, nil
	}
	f.unfit, f.why, err = backuppod.Unfit(ctx, r.Live, restore)
	return f, err
}

// needsAgain passes until it is looked again for what a restore lacks.
const needsAgain = 5 * time.Second

// Plan changes nothing: the cluster does what is to be done.
func (r *reconciler) Plan(_ *etcdv1beta2.EtcdRestore, f facts, _ time.Time) kit.Plan {
	if f.unfit == "" || f.unfit == etcdv1beta2.ReasonInvalidSpec { // a spec never changes
		return kit.Plan{}
	}
	return kit.Plan{Again: needsAgain}
}

// serves reports whether clients are served.
func serves(c *etcdv1beta2.EtcdCluster) bool {
	return meta.IsStatusConditionTrue(c.Status.Conditions, etcdv1beta2.EtcdClusterAvailable)
}
