// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import "cmp"

// wrote notes an entry that members of a version write of themselves: up to 3.5 in a form that 3.7
// cannot read any more.
func (c *cluster) wrote(version string) {
	c.index++
	if v := minor(version); v != nil && v.Minor() < 6 {
		c.old = c.index
	}
}

// snapshot has the members that run write a snapshot to their disks when it is time. All of them
// have carried out all that there is.
func (w *World) snapshot(c *cluster) {
	for _, p := range w.up(c) {
		on := w.disks[p.Volume]
		if v := minor(p.Version); c.index > on.snapshot+w.snapshotCount() && (v == nil || v.Minor() < 7) {
			on.snapshot = c.index
		}
	}
}

// sent is the snapshot that a member begins with: none while the others still have the whole log.
func (w *World) sent(c *cluster) uint64 {
	if c.index > w.snapshotCount() {
		return c.index
	}
	return 0
}

func (w *World) snapshotCount() uint64 { return cmp.Or(w.SnapshotCount, 10_000) }

// mayRead ends a process from 3.7 on that reads what etcd before 3.6 has written of itself: it reads
// all its log since the last snapshot on its disk.
func (w *World) mayRead(p *process) {
	if v := minor(p.Version); p.cluster == nil || v == nil || v.Minor() < 7 || w.disks[p.Volume].snapshot >= p.cluster.old {
		return
	}
	p.cluster, p.reason = nil, "panic: unmarshal should never fail (proto: cannot parse invalid wire-format data)"
	w.violated("%s runs %s on a log that it cannot parse", p.Name, p.Version)
}
