// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Up to 3.5, etcd writes into its log who the members are and what the cluster speaks in a form that
// 3.7 cannot parse any more. A member that starts reads its log from the last snapshot on its disk,
// and 3.6, which still reads all of it, writes one only after so many entries of whatever kind: in a
// cluster that is hardly written to, never. So before members go from 3.6 to 3.7, entries that
// change nothing are passed until all have written a snapshot from after the last old entry.
const (
	// snapshotFlag is where users say after how many entries, and snapshotCount is etcd's default.
	snapshotFlag  = "ETCD_SNAPSHOT_COUNT"
	snapshotCount = 10_000
	// mostEntries is for how many more entries than that are not passed. It takes about half a
	// minute, and all that time the members write to their disks.
	mostEntries = 200_000
	// spare is how much further a member must be than is needed: the index that it tells is ahead of
	// the snapshot, by the entries that are carried out at a time.
	spare = 200
	// lag is how far the leader is ahead when the others have what they need: they hear only with
	// the next entries that the last have been decided.
	lag = 500
)

// firstNew is the first version that writes nothing in the old form, and firstBlind the first that
// cannot read it.
const firstNew, firstBlind = "3.6.0", "3.7.0"

// formedWith is the lowest version that any first member may have run: one that was asked for, that a
// pod is of, or that a member says.
func (f facts) formedWith(c *etcdv1beta2.EtcdCluster) string {
	low, seen := c.Status.FormedWith, []string{wanted(c)}
	for _, pod := range f.pods {
		seen = append(seen, versionOf(pod))
	}
	for _, status := range f.view.Status {
		seen = append(seen, status.Version)
	}
	for _, text := range seen {
		if _, err := parse(text); err == nil && (low == "" || older(text, low)) {
			low = text
		}
	}
	return low
}

// formedNew reports whether no one has ever written to the log in the old form.
func formedNew(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.FormedWith != "" && !older(c.Status.FormedWith, firstNew)
}

// snapshotFrom is the index in the log after which nothing is in the old form: all members run 3.6,
// and have agreed on it. It is noted as soon as it is known, and once: a cluster that is written to
// may have got far enough by itself before anybody asks for 3.7.
func (f facts) snapshotFrom(c *etcdv1beta2.EtcdCluster, d *decision) int64 {
	if c.Status.SnapshotFrom != 0 || c.Status.ClusterID == "" || formedNew(c) || f.view.Err != nil || !sameMinor(f.view.ClusterVersion, firstNew) {
		return c.Status.SnapshotFrom
	}
	if slices.ContainsFunc(d.members, func(m member) bool { return !m.answers || older(m.version, firstNew) }) {
		return 0
	}
	return int64(f.topIndex())
}

// topIndex is the index of the last entry that any member knows to be decided.
func (f facts) topIndex() uint64 {
	top := uint64(0)
	for _, status := range f.view.Status {
		top = max(top, status.RaftIndex)
	}
	return top
}

// owesSnapshot reports whether a member that goes to the target might not be able to read its log. A
// snapshot comes, at the latest, when a member has carried out so many entries since its last. Of
// one that was made for other settings it is not known how many.
func (f facts) owesSnapshot(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.target == "" || older(d.target, firstBlind) || !older(f.lowest(c, d), firstBlind) || formedNew(c) {
		return false
	}
	every, known := snapshotEvery(c)
	needed := uint64(c.Status.SnapshotFrom) + every + spare
	return c.Status.SnapshotFrom == 0 || !known || slices.ContainsFunc(d.members, func(m member) bool {
		return !m.answers || outdated(c, m) || f.view.Status[m.id].Applied < needed
	})
}

// snapshotEvery is after how many entries members write a snapshot; it is not known if the value is
// to be found elsewhere.
func snapshotEvery(c *etcdv1beta2.EtcdCluster) (count uint64, known bool) {
	count = snapshotCount
	if c.Spec.Pod == nil {
		return count, true
	}
	for _, env := range c.Spec.Pod.EtcdEnv {
		if env.Name != snapshotFlag {
			continue
		}
		if env.ValueFrom != nil {
			return 0, false
		}
		if n, err := strconv.ParseUint(env.Value, 10, 32); err == nil && n > 0 { // else etcd has its default, too
			count = n
		}
	}
	return count, true
}

// passEntries has members that are all well get nearer to their next snapshot.
func (f facts) passEntries(c *etcdv1beta2.EtcdCluster, d *decision) {
	every, known := snapshotEvery(c)
	if !known || every > mostEntries {
		d.waits = fmt.Sprintf("%s in spec.pod.etcdEnv to be %d or less: the members may hold entries of etcd before 3.6, which %s cannot read, and write a snapshot only after that many more",
			snapshotFlag, mostEntries, d.target)
		return
	}
	d.waits = "the members to write a snapshot that etcd " + minorOf(d.target) + " can start from"
	if c.Status.SnapshotFrom == 0 { // it is noted with this very look
		return
	}
	from, needed := uint64(c.Status.SnapshotFrom), every+spare
	d.waits += fmt.Sprintf(" (%d%% of the way)", min(9, (f.leastApplied(d, from)-from)*10/needed)*10)
	if f.refused.words != "" {
		d.waits += ": " + f.refused.words
	}
	if goal, top := from+needed+lag, f.topIndex(); top < goal {
		d.step = advance(goal - top)
	}
}

// leastApplied is how far the last member has carried out the log, and from at least.
func (f facts) leastApplied(d *decision, from uint64) uint64 {
	var out []uint64
	for _, m := range d.members {
		out = append(out, f.view.Status[m.id].Applied)
	}
	return max(from, slices.Min(out))
}

// errNoEntries reports that the members took none of the entries; the next look says how many more.
var errNoEntries = errors.New("no entry was written")

// advance passes some of the entries: as many as there is time for. No one is told each time.
func advance(entries uint64) *step {
	return &step{name: "have the members write a snapshot", do: func(ctx context.Context, store etcd.Store) error {
		if err := store.Advance(ctx, entries); err != nil {
			return fmt.Errorf("%w: %w", errNoEntries, err)
		}
		return nil
	}}
}
