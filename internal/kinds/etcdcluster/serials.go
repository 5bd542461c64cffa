// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strconv"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// ahead is for how many members more than are known of a name is recognised: those that
// were added by a process that died before it could say so.
const ahead = 16

// serials maps names to the numbers that they are made of.
func (f facts) serials(c *etcdv1beta2.EtcdCluster) map[string]int64 {
	return serialsBelow(c, f.highest(c)+ahead)
}

func serialsBelow(c *etcdv1beta2.EtcdCluster, top int64) map[string]int64 {
	out := map[string]int64{}
	for serial := range top {
		out[memberName(c, serial)] = serial
	}
	return out
}

// serialOf is the number of a name; that of a member of unknown origin is -1.
func serialOf(serials map[string]int64, name string) int64 {
	if serial, ok := serials[name]; ok {
		return serial
	}
	return -1
}

// highest is the highest number that a pod, a claim or the status reports.
func (f facts) highest(c *etcdv1beta2.EtcdCluster) int64 {
	top := c.Status.Serial
	if c.Status.ClusterID == "" {
		top = int64(f.first(c)) - 1
	}
	if at := c.Status.Restore; at != nil { // its number is never that of a member made otherwise
		top = max(top, at.Serial)
	}
	for _, pod := range f.pods {
		top = max(top, serialIn(pod.Annotations))
	}
	for _, claim := range f.claims {
		top = max(top, serialIn(claim.Annotations))
	}
	return top
}

func serialIn(annotations map[string]string) int64 {
	n, err := strconv.ParseInt(annotations[serialAnnotation], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// nextSerial is that of a member to be added: higher than any that was ever used.
func (f facts) nextSerial(c *etcdv1beta2.EtcdCluster, all []member) int64 {
	top := f.highest(c)
	for _, m := range all {
		top = max(top, m.serial)
	}
	return top + 1
}
