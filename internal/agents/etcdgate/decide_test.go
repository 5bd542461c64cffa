// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

func ours() marker { return marker{"3e6b", "main-0a1b2c3d4e", "8e9e05c52164694d"} }

// The test covers all combinations of the facts on which the decision depends.
func TestEtcdStartsOnlyWhereThatIsSafe(t *testing.T) {
	own := ours()
	otherCluster, otherMember, otherID := own, own, own
	otherCluster.Cluster, otherMember.Member, otherID.ID = "77aa", "main-ffffffffff", "0000000000000001"
	const starts, marks = etcdstart.Reason("starts"), etcdstart.Reason("writes the marker and starts")
	for _, test := range []struct {
		name                                   string
		found                                  *marker
		log                                    bool
		bootstrap, join, established, restored etcdstart.Reason
	}{
		{"log and marker", &own, true, starts, starts, starts, starts},
		{"log without marker", nil, true, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign, marks},
		{"log of another cluster", &otherCluster, true, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign},
		{"log of another member", &otherMember, true, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign},
		{"log of another id", &otherID, true, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign},
		{"log of a damaged marker", &marker{}, true, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeForeign},
		{"nothing", nil, false, marks, marks, etcdstart.VolumeLost, etcdstart.VolumeLost},
		{"only the marker", &own, false, marks, marks, etcdstart.VolumeLost, etcdstart.VolumeLost},
		{"only a marker of another cluster", &otherCluster, false, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeLost, etcdstart.VolumeLost},
		{"only a marker of another member", &otherMember, false, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeLost, etcdstart.VolumeLost},
		{"only a marker of another id", &otherID, false, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeLost, etcdstart.VolumeLost},
		{"only a damaged marker", &marker{}, false, etcdstart.VolumeForeign, etcdstart.VolumeForeign, etcdstart.VolumeLost, etcdstart.VolumeLost},
	} {
		for mode, want := range map[etcdstart.Mode]etcdstart.Reason{etcdstart.Bootstrap: test.bootstrap, etcdstart.Join: test.join, etcdstart.Established: test.established, etcdstart.Restored: test.restored} {
			t.Run(test.name+", "+string(mode), func(t *testing.T) {
				d := decide(facts{own: own, found: test.found, mode: mode, log: test.log})
				got := starts
				switch {
				case d.refusal != nil:
					got = d.refusal.Reason
				case d.mark:
					got = marks
				}
				if got != want || d.refusal != nil && d.mark {
					t.Errorf("expected %s, got %s: %+v", want, got, d.refusal)
				}
			})
		}
	}
}

func TestAnUnknownModeStartsNothingNew(t *testing.T) {
	if d := decide(facts{own: ours(), mode: "what"}); d.refusal == nil || d.refusal.Reason != etcdstart.NoAuthorisation {
		t.Errorf("expected a refusal, got %+v", d)
	}
}

func TestARefusalNamesTheVolumeAndWhatWasExpected(t *testing.T) {
	own, other := ours(), marker{"77aa", "old-1", "1234567890abcdef"}
	for _, f := range []facts{{own: own, found: &other, mode: etcdstart.Join, log: true}, {own: own, found: &other, mode: etcdstart.Join}, {own: own, found: &other, mode: etcdstart.Established}} {
		message := decide(f).refusal.Message
		for _, word := range []string{own.Cluster, own.Member, own.ID, other.Cluster, other.Member, other.ID} {
			if !strings.Contains(message, word) {
				t.Errorf("expected %q in %q", word, message)
			}
		}
	}
}
