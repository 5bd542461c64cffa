// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strconv"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// SerialsAhead is how many serials above the known ones are recognised in names. A process may add members and die
// before it records their serials.
const SerialsAhead = 16

// SerialsBelow returns the names of members with serials below top, and these serials.
func SerialsBelow(c *etcdv1beta2.EtcdCluster, top int64) map[string]int64 {
	out := map[string]int64{}
	for serial := range top {
		out[MemberName(c, serial)] = serial
	}
	return out
}

// SerialOf returns the serial of a name; -1 for a member of unknown origin.
func SerialOf(serials map[string]int64, name string) int64 {
	if serial, ok := serials[name]; ok {
		return serial
	}
	return -1
}

// SerialIn returns the serial in the annotations of a pod or claim; 0 if there is none.
func SerialIn(annotations map[string]string) int64 {
	n, err := strconv.ParseInt(annotations[SerialAnnotation], 10, 64)
	if err != nil {
		return -1
	}
	return n
}
