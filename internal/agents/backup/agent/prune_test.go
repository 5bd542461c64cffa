// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestASaveRemovesOnlyTheOldestBackups(t *testing.T) {
	b := newBench(t, newMember(t, 100))
	foreign := []string{"dir/shop_other_v1_2020-01-01-00:00:00", "dir/shop2_v1_2020-01-01-00:00:00", "dir/shop_v01_2020-01-01-00:00:00", "dir/shop_v1", "shop_v1_2020-01-01-00:00:00"}
	for _, name := range foreign {
		b.put(name, []byte("x"), nil)
	}
	b.object("dir/shop", 1)
	for n, revision := range []int64{8, 9, 10, 99} {
		b.object(named(revision, n+1), revision)
	}
	b.put(named(7, 0), []byte("half"), nil)   // incomplete backup, older than all kept backups: removed
	b.put(named(101, 4), []byte("made"), nil) // incomplete backup, not older than all kept backups: kept
	o := b.saving(5)
	o.Save.Keep = 2
	r := b.runs(o, backup.Succeeded, "")
	b.has(append(foreign, "dir/shop+", named(101, 4), named(99, 4)+"+", named(100, 5)+"+")...)
	if want := []string{named(7, 0), named(8, 1), named(9, 2), named(10, 3)}; r.Pruned != 4 || !slices.Equal(r.PrunedObjects, want) {
		t.Errorf("expected the message %q, got %+v", want, r)
	}
}

// The newest backup may turn out to be corrupt, so the last verified backup is kept too.
func TestTheLastProvenBackupStaysInAddition(t *testing.T) {
	b := newBench(t, newMember(t, 4))
	for n := range 3 {
		b.object(named(int64(n+1), n+1), int64(n+1))
	}
	o := b.saving(4)
	o.Save.Keep, o.Save.Spare = 2, named(1, 1)
	b.runs(o, backup.Succeeded, "")
	b.has(named(1, 1)+"+", named(3, 3)+"+", named(4, 4)+"+")
}

// If a cluster is deleted by mistake and recreated, it saves its empty data to the same path.
func TestBackupsOfAnotherClusterAreNotRemoved(t *testing.T) {
	b := newBench(t, newMember(t, 4))
	for n := range 3 {
		b.objectOf("00000000000a11ce", named(int64(100+n), n+1), int64(100+n))
	}
	o := b.saving(5)
	o.Save.Keep = 2
	b.runs(o, backup.Succeeded, backup.ReasonOtherCluster, "the path also has backups of another cluster (00000000000a11ce); their newest 2 backups stay")
	b.has(named(101, 2)+"+", named(102, 3)+"+", named(4, 5)+"+")

	o.Save.Former = []string{"00000000000a11ce"} // the cluster had this ID before it was restored
	b.runs(o, backup.Succeeded, "")
	b.has(named(102, 3)+"+", named(4, 5)+"+")
}

func TestACorruptBackupDoesNotCount(t *testing.T) {
	b := newBench(t)
	for n := range 4 {
		b.object(named(int64(n+1), n+1), int64(n+1))
	}
	corrupt := b.record(named(4, 4))
	corrupt.Verified = &backup.Verified{At: noon, Corrupt: "it is"}
	b.put(named(4, 4), b.content(named(4, 4)), &corrupt)
	short := b.record(named(3, 3))
	b.put(named(3, 3), b.content(named(3, 3))[:512], &short)
	o := b.order()
	o.Prune = &backup.Prune{Keep: 1}
	b.runs(o, backup.Succeeded, "")
	b.has(named(2, 2)+"+", named(3, 3)+"+", named(4, 4)+"+")
}

func TestABackupStaysThoughOlderOnesCannotBeRemoved(t *testing.T) {
	b := newBench(t, newMember(t, 10))
	b.object(named(8, 1), 8)
	b.Open = failing(func(key string) bool { return key == "delete "+named(8, 1) })
	o := b.saving(2)
	o.Save.Keep = 1
	r := b.runs(o, backup.Succeeded, backup.ReasonPruneFailed, "older ones could not be removed")
	if r.Object != named(10, 2) || r.Pruned != 0 {
		t.Errorf("got %+v", r)
	}
	b.has(named(8, 1), named(10, 2)+"+")

	b.Open = newBench(t).Open // in the next run, the store deletes objects again, so the run removes the old backup
	again := b.runs(o, backup.Succeeded, "")
	if !again.Again || again.Pruned != 1 || !strings.HasSuffix(again.PrunedObjects[0], named(8, 1)) {
		t.Errorf("got %+v", again)
	}
	b.has(named(10, 2) + "+")
}
