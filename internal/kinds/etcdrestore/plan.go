// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdrestore

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// needsAgain is the time until the next check whether a missing Secret or PersistentVolumeClaim exists.
const needsAgain = 5 * time.Second

// decision holds the reason and message for the condition Ready, and the time until the next reconcile.
type decision struct {
	reason, message string
	again           time.Duration
}

// Decide computes the progress of the restore.
func (r *reconciler) Decide(restore *etcdv1beta2.EtcdRestore, f facts, _ time.Time) decision {
	var d decision
	if !restore.Status.Succeeded {
		d.reason, d.message = progress(f).of(restore)
	}
	// An invalid spec needs no further check, as the spec cannot change.
	if f.unfit != "" && f.unfit != etcdv1beta2.ReasonInvalidSpec {
		d.again = needsAgain
	}
	return d
}

// Plan changes nothing, as the reconciler of the EtcdCluster carries out the restore.
func (r *reconciler) Plan(_ *etcdv1beta2.EtcdRestore, _ facts, d decision) kit.Plan {
	return kit.Plan{Again: d.again}
}
