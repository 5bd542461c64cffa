// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Alarms are the alarms of a kind that a view shows.
func Alarms(view etcd.View, kind string) []etcd.Alarm {
	return slices.DeleteFunc(view.Alarms(), func(a etcd.Alarm) bool { return a.Kind != kind })
}

// OrphanedAlarms are alarms of members that were removed. etcd keeps them, and they have their effect.
func OrphanedAlarms(view etcd.View, alarms []etcd.Alarm) []etcd.Alarm {
	return slices.DeleteFunc(slices.Clone(alarms), func(a etcd.Alarm) bool {
		_, there := view.Member(a.Member)
		return there || a.Member == 0
	})
}

// NameByID is the name of a member, or words with its id.
func NameByID(view etcd.View, id uint64) string {
	if m, ok := view.Member(id); ok && len(m.PeerURLs) > 0 {
		return NameInURL(m.PeerURLs[0])
	}
	return fmt.Sprintf("member %016x", id)
}
