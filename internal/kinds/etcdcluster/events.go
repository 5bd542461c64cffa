// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
)

// transitions returns the events that a change of the status causes: the start and the end of an upgrade step or of a
// recovery.
func (r *reconciler) transitions(before, after *etcdv1beta2.EtcdCluster) []kit.Event {
	return append(upgradeEvents(before.Status, after.Status), recoveryEvents(before.Status, after.Status)...)
}

func upgradeEvents(was, is etcdv1beta2.EtcdClusterStatus) []kit.Event {
	event := kit.Event{Reason: etcdv1beta2.ReasonClusterUpgrading, Action: "ChangeVersion"}
	switch {
	case is.TargetVersion != "" && is.TargetVersion != was.TargetVersion:
		event.Note = fmt.Sprintf("opcrew is changing the members from version %s to %s, one at a time", is.CurrentVersion, is.TargetVersion)
	case is.TargetVersion == "" && was.TargetVersion != "" && is.CurrentVersion == was.TargetVersion:
		event.Reason, event.Note = etcdv1beta2.ReasonClusterUpgraded, "All members run version "+is.CurrentVersion
	default:
		return nil
	}
	return []kit.Event{event}
}

func recoveryEvents(was, is etcdv1beta2.EtcdClusterStatus) []kit.Event {
	if is.Restore == nil || is.Restore.Recovery == nil || model.PhaseOf(was.Restore) == model.PhaseOf(is.Restore) {
		return nil
	}
	event := kit.Event{Reason: etcdv1beta2.ReasonRecovering, Action: "Recover", Note: is.Restore.Message}
	switch is.Restore.Phase {
	case etcdv1beta2.PhaseRestoring:
		event.Note = fmt.Sprintf("The quorum is permanently lost; beside the remaining members, opcrew is starting a new member with the data of %s", cmp.Or(is.Restore.Recovery.Member, is.Restore.Recovery.Object))
	case etcdv1beta2.PhaseRestored:
		event.Reason = etcdv1beta2.ReasonRecovered
	}
	return []kit.Event{event}
}
