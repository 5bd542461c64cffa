// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// WhyNotReady explains why a member is not ready, as a clause to append to its name; empty if the reason is unknown.
func (m Member) WhyNotReady(paused bool) string {
	switch {
	case m.Pod == nil && paused:
		return ": its pod is gone, and is not recreated while the cluster is paused"
	case m.Pod == nil:
		return ": its pod is being created"
	case m.Defragmenting:
		return ": its data is being defragmented"
	}
	if why, _ := m.WhyPodNotReady(); why != "" {
		return ": " + why
	}
	switch {
	case m.Asked && m.Status.Err != nil:
		return fmt.Sprintf(": %v", m.Status.Err)
	case m.IsCorrupt():
		return ": etcd reports that its data is corrupt (alarm CORRUPT)"
	case m.Asked && m.Status.Leader == 0:
		return ": it knows no leader"
	}
	return ""
}

// WhyPodNotReady explains why the pod of a member is not ready. stuck is true if the pod may need action by the user.
func (m Member) WhyPodNotReady() (why string, stuck bool) {
	if m.Unbound != "" {
		return m.Unbound, true
	}
	return workload.WhyNotReady(m.Pod)
}

// IsCorrupt reports whether etcd raises the alarm CORRUPT for the member.
func (m Member) IsCorrupt() bool {
	return m.Asked && slices.Contains(m.Status.Alarms(), etcd.Alarm{Member: m.ID, Kind: etcd.AlarmCorrupt})
}
