// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strconv"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// SerialsAhead is for how many members more than are known of a name is recognised: those that
// were added by a process that died before it could say so.
const SerialsAhead = 16

// SerialsBelow returns the names of members with serials below top, and these serials.
func SerialsBelow(c *etcdv1beta2.EtcdCluster, top int64) map[string]int64 {
	out := map[string]int64{}
	for serial := range top {
		out[MemberName(c, serial)] = serial
	}
	return out
}

// SerialOf is the number of a name; that of a member of unknown origin is -1.
func SerialOf(serials map[string]int64, name string) int64 {
	if serial, ok := serials[name]; ok {
		return serial
	}
	return -1
}

// SerialIn is the serial in the annotations of a pod or claim; 0 if there is none.
func SerialIn(annotations map[string]string) int64 {
	n, err := strconv.ParseInt(annotations[SerialAnnotation], 10, 64)
	if err != nil {
		return -1
	}
	return n
}
