// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"path/filepath"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// takingOver returns an order to create a data directory from the data of a member instead of a backup.
func (b *bench) takingOver(m *member, change func(*backup.Source)) backup.Order {
	o := backup.Order{ID: "order-1", Restore: &backup.Restore{
		From:    &backup.Source{Endpoint: m.endpoint, ClusterID: "c", Index: 70},
		DataDir: filepath.Join(b.dir, "data"), Name: "shop-1", InitialCluster: "shop-1=http://shop-1:2380", Token: "t", PeerURLs: []string{"http://shop-1:2380"},
	}}
	if change != nil {
		change(o.Restore.From)
	}
	return o
}

func TestTheDataOfAMemberIsTakenOverOnce(t *testing.T) {
	m := newMember(t, 7)
	m.applied = 71
	b := newBench(t, m)
	o := b.takingOver(m, nil)
	r := b.runs(o, backup.Succeeded, "")
	if r.Revision != 7 || r.RestoredRevision != 1007 || r.EtcdVersion != "3.6.16" || r.Again {
		t.Errorf("expected the result of the takeover, got %+v", r)
	}
	m.revision, m.fault = 9, refuses
	if r = b.runs(o, backup.Succeeded, ""); !r.Again || r.Revision != 7 || len(b.jobs) != 1 {
		t.Errorf("expected the same order to change nothing, got %+v, %d directories made", r, len(b.jobs))
	}
}

func TestOnlyAMemberOfTheClusterWithAllItsDataIsTakenOver(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*backup.Source)
		member func(*member)
		reason backup.Reason
		words  string
	}{
		"of another cluster":    {change: func(s *backup.Source) { s.ClusterID = "d" }, reason: backup.ReasonEtcdRefused, words: "belongs to cluster c, but the restore needs data of cluster d"},
		"that has got less far": {member: func(m *member) { m.applied = 69 }, reason: backup.ReasonEtcdRefused, words: "up to entry 69, but had already applied entry 70"},
		"that is corrupt":       {member: func(m *member) { m.alarms = []string{"memberID:1 alarm:CORRUPT"} }, reason: backup.ReasonEtcdUnreachable, words: "corrupt"},
		"that breaks off":       {member: func(m *member) { m.fault = breaks }, reason: backup.ReasonEtcdRefused, words: "was interrupted"},
		"whose hash is wrong":   {member: func(m *member) { m.fault = lies }, reason: backup.ReasonSnapshotBroken, words: "hash"},
		"that is cut off":       {member: func(m *member) { m.fault = ends }, reason: backup.ReasonSnapshotBroken, words: "hash"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMember(t, 7)
			m.applied = 70
			if c.member != nil {
				c.member(m)
			}
			b := newBench(t, m)
			b.runs(b.takingOver(m, c.change), backup.Failed, c.reason, c.words)
			b.has() // the backup folder is empty: no file is left behind
		})
	}
}
