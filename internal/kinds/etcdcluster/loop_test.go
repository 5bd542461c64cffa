// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// planAt returns the plan for a cluster, given what was read about it and the time.
func planAt(object *etcdv1beta2.EtcdCluster, f facts, now time.Time) kit.Plan {
	r := &reconciler{}
	return r.Plan(object, f, r.Decide(object, f, now))
}

// reportAt writes the status of a cluster, given what was read about it, the results of the writes, and the time.
func reportAt(object *etcdv1beta2.EtcdCluster, f facts, done kit.Outcome, now time.Time) {
	r := &reconciler{}
	done.Now = now
	r.Report(object, f, r.Decide(object, f, now), done)
}
