// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strconv"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// SerialsAhead is how many serial numbers above the known ones opcrew still recognizes in names. An earlier process may
// have added members and stopped before it recorded their serial numbers.
const SerialsAhead = 16

// SerialsBelow returns the serial numbers below top, by the name of the member with that number.
func SerialsBelow(c *etcdv1beta2.EtcdCluster, top int64) map[string]int64 {
	out := map[string]int64{}
	for serial := range top {
		out[MemberName(c, serial)] = serial
	}
	return out
}

// SerialOf returns the serial number of the member with the given name; -1 if the name does not belong to this cluster.
func SerialOf(serials map[string]int64, name string) int64 {
	if serial, ok := serials[name]; ok {
		return serial
	}
	return -1
}

// SerialIn returns the serial in the annotations of a pod or claim; -1 if there is none.
func SerialIn(annotations map[string]string) int64 {
	n, err := strconv.ParseInt(annotations[SerialAnnotation], 10, 64)
	if err != nil {
		return -1
	}
	return n
}
