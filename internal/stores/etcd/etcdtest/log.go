// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import "cmp"

// wrote records a log entry that members write about the cluster. Up to etcd 3.5, members write it in a format that
// etcd 3.7 cannot read.
func (c *cluster) wrote(version string) {
	c.index++
	if v := minor(version); v != nil && v.Minor() < 6 {
		c.old = c.index
	}
}

// snapshot makes the running members write a snapshot to their disks if enough log entries were written since the last
// one.
func snapshot(w *World, c *cluster) {
	for _, p := range w.processes.up(c) {
		on := w.disks[p.Volume]
		if v := minor(p.Version); c.index > on.snapshot+w.snapshotCount() && (v == nil || v.Minor() < 7) {
			on.snapshot = c.index
		}
	}
}

// sent returns the index of the snapshot that a new member receives; 0 if the other members still have the whole log
// and send that instead.
func sent(w *World, c *cluster) uint64 {
	if c.index > w.snapshotCount() {
		return c.index
	}
	return 0
}

func (w *World) snapshotCount() uint64 { return cmp.Or(w.SnapshotCount, 10_000) }

// mayRead ends a process of etcd 3.7 or later that has to read log entries in the format from before 3.6, and records a
// violation. A process reads its log from the last snapshot on its disk.
func mayRead(w *World, p *process) {
	if v := minor(p.Version); p.cluster == nil || v == nil || v.Minor() < 7 || w.disks[p.Volume].snapshot >= p.cluster.old {
		return
	}
	p.cluster, p.reason = nil, "panic: unmarshal should never fail (proto: cannot parse invalid wire-format data)"
	w.violated("%s runs %s on a log that it cannot parse", p.Name, p.Version)
}
