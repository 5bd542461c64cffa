// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// sourceTLS is where the container that makes a seed's data has what it shows the member that it reads.
const sourceTLS = "/etc/opcrew/tls"

// origin is what the seed of a second lineage begins with: the backup that an EtcdRestore names, or, after a
// quorum was lost for good, what one member or a backup still has.
type origin struct {
	// name is what users know it by.
	name string
	// place has the backup, object and bump are as in the order. Without a place there is from.
	place  backuppod.Place
	object string
	bump   *int64
	from   *backup.Source
	// tls is the Secret for it, if there is TLS.
	tls string
}

// origin is that of the restore or recovery that was taken up; nil if it is called off.
func (f facts) origin(c *etcdv1beta2.EtcdCluster) *origin {
	if c.Status.Restore.Recovery != nil {
		return f.recoveryOrigin(c)
	}
	r := f.restore
	if r == nil || r.DeletionTimestamp != nil || string(r.UID) != c.Status.Restore.UID {
		return nil
	}
	return &origin{name: "EtcdRestore " + c.Name, place: placeOf(r), object: r.Spec.Object, bump: r.Spec.RevisionBump}
}

// recoveryOrigin is what a recovery takes over.
func (f facts) recoveryOrigin(c *etcdv1beta2.EtcdCluster) *origin {
	plan := c.Status.Restore.Recovery
	if f.restoreAsked(c) || isDeclined(c) || !f.isStillLost(c) {
		return nil
	}
	if plan.Member == "" {
		return f.backupOrigin(c, plan)
	}
	if f.unreadable(c, plan.Member) != "" && !f.seedMade(c) {
		return nil // it is brought back first
	}
	out := &origin{name: "The recovery from member " + plan.Member, tls: c.OperatorSecret(), from: &backup.Source{
		Endpoint: c.ClientURL(plan.Member), ClusterID: c.Status.ClusterID, Index: uint64(plan.Index),
	}}
	if out.tls != "" {
		out.from.TLSDir = sourceTLS
	}
	return out
}

// unreadable says why nothing can be read of a member that is left, or not for long; empty: it may be.
func (f facts) unreadable(c *etcdv1beta2.EtcdCluster, name string) string {
	pod := f.pods[name]
	if pod == nil || pod.DeletionTimestamp != nil || ended(pod) {
		return "its pod is gone, or about to go"
	}
	return f.nodeGivenUp(member{name: name, pod: pod}, healing(c))
}

func (f facts) backupOrigin(c *etcdv1beta2.EtcdCluster, plan *etcdv1beta2.QuorumRecovery) *origin {
	if f.isUnusable(c) {
		return nil // another one is
	}
	for _, b := range f.backups {
		if b.Name == plan.Backup {
			return &origin{name: "The recovery from EtcdBackup " + b.Name, place: backuppod.PlaceOf(b.Spec.StorageType, b.Spec.Storage), object: plan.Object}
		}
	}
	return nil
}

// seedMade reports whether the seed has its data.
func (f facts) seedMade(c *etcdv1beta2.EtcdCluster) bool {
	result := restoreResult(f.seed(c).pod)
	return result != nil && result.Outcome == backup.Succeeded
}

// mounts are what the container that makes the seed's data works with.
func (o origin) mounts() []backuppod.Mount {
	out := o.place.Mounts(true)
	if o.tls != "" {
		out = append(out, backuppod.SecretMount("source-tls", sourceTLS, o.tls))
	}
	return out
}

// needs are the objects without which the seed's pod would hang.
func (o origin) needs() []backuppod.Need {
	out := o.place.Needs()
	if o.tls != "" {
		out = append(out, backuppod.SecretNeed("TLS.static.operatorSecret", o.tls))
	}
	return out
}
