// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// shortage says how much there is and how much would be needed, after all that could be done.
func (f facts) shortage(c *etcdv1beta2.EtcdCluster) string {
	var most etcd.MemberStatus
	for _, m := range f.view.Voters() {
		if status := f.view.Status[m.ID]; status.DBInUse > most.DBInUse {
			most = status
		}
	}
	const mebi = 1 << 20
	needed := (most.DBInUse*100/crowded/mebi + 1) * mebi
	return fmt.Sprintf("all that can be given back was, and %s of %s are in use by %s: set %s in spec.pod.etcdEnv to %d or more%s, or %s",
		readable(most.DBInUse), readable(f.quota(c, most)), fills(c), quotaFlag, needed, f.volumeFor(needed), makesRoom(c))
}

// volumeFor says that volumes have to grow for a quota of so many bytes. A defragmentation writes the data a second
// time beside the first.
func (f facts) volumeFor(quota int64) string {
	for _, claim := range f.volumes.Bound() {
		if has := workload.Capacity(claim); !has.IsZero() && has.Value() < 2*quota {
			return fmt.Sprintf(" and %s, which is %s, to %s or more", storageField, has.String(), resource.NewQuantity(2*quota, resource.BinarySI))
		}
	}
	return ""
}

// fills names what is left in the members. Which of the two it is etcd does not tell, unless nothing of the
// history is kept.
func fills(c *etcdv1beta2.EtcdCluster) string {
	if keep := keepRevisions(c); keep > 0 {
		return "keys and the last " + plural(int(keep), "revision", "revisions")
	}
	return "keys"
}

// makesRoom is what users can do without a larger quota. What is deleted stays in the history that is kept.
func makesRoom(c *etcdv1beta2.EtcdCluster) string {
	if keep := keepRevisions(c); keep > 0 {
		return fmt.Sprintf("delete keys and set spec.upkeep.keepRevisions lower than %d: as long as their revisions are kept, keys that were deleted take room", keep)
	}
	return "delete keys"
}
