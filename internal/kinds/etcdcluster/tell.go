// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// Tell makes an event of the beginning and of the end of each step of an upgrade.
func (r *reconciler) Tell(before, after *etcdv1beta2.EtcdCluster) []kit.Event {
	was, is := before.Status, after.Status
	event := kit.Event{Reason: etcdv1beta2.ReasonClusterUpgrading, Action: "ChangeVersion"}
	switch {
	case is.TargetVersion != "" && is.TargetVersion != was.TargetVersion:
		event.Note = fmt.Sprintf("Members go from version %s to %s, one at a time", is.CurrentVersion, is.TargetVersion)
	case is.TargetVersion == "" && was.TargetVersion != "" && is.CurrentVersion == was.TargetVersion:
		event.Reason, event.Note = etcdv1beta2.ReasonClusterUpgraded, "All members run version "+is.CurrentVersion
	default:
		return nil
	}
	return []kit.Event{event}
}
