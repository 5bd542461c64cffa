// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// planAt returns the plan for an EtcdBackup, given what was read about it and the time.
func planAt(object *etcdv1beta2.EtcdBackup, f facts, now time.Time) kit.Plan {
	r := &reconciler{}
	return r.Plan(object, f, r.Decide(object, f, now))
}

// reportAt writes the status of an EtcdBackup, given what was read about it, the results of the writes, and the time.
func reportAt(object *etcdv1beta2.EtcdBackup, f facts, done kit.Outcome, now time.Time) {
	r := &reconciler{}
	done.Now = now
	r.Report(object, f, r.Decide(object, f, now), done)
}
