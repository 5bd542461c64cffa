// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Alarms returns the alarms of one kind in a view.
func Alarms(view etcd.View, kind string) []etcd.Alarm {
	return slices.DeleteFunc(view.Alarms(), func(a etcd.Alarm) bool { return a.Kind != kind })
}

// OrphanedAlarms returns the alarms of removed members. In etcd, an alarm stays in effect after its member is removed.
func OrphanedAlarms(view etcd.View, alarms []etcd.Alarm) []etcd.Alarm {
	return slices.DeleteFunc(slices.Clone(alarms), func(a etcd.Alarm) bool {
		_, there := view.Member(a.Member)
		return there || a.Member == 0
	})
}

// NameByID returns the name of a member, or a phrase with its ID if its name is unknown.
func NameByID(view etcd.View, id uint64) string {
	if m, ok := view.Member(id); ok && len(m.PeerURLs) > 0 {
		return NameInURL(m.PeerURLs[0])
	}
	return fmt.Sprintf("member %016x", id)
}
