// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// answeredBy simulates that another etcd cluster, with an ID that the status does not record, answers at the members'
// addresses.
func answeredBy(w world, id uint64) world {
	for _, m := range w.view.Members {
		w.c.Status.Membership = append(w.c.Status.Membership, etcdv1beta2.MemberIdentity{ID: model.FormatID(m.ID), Name: m.Name})
	}
	w.view.ClusterID = id
	w.view, w.otherID = ownView(w.c, w.view)
	return w
}

// Regression: if the status had a wrong cluster ID, opcrew reported a lost quorum with 0 of 3 healthy voters, although
// all were healthy.
func TestAWrongClusterIDIsNoLostQuorum(t *testing.T) {
	for name, w := range map[string]world{
		"with claims": answeredBy(observed(clustertest.New(clustertest.WithClaims), 3), 0xbad), "without": answeredBy(observed(clustertest.New(), 3), 0xbad),
	} {
		c := reported(w)
		for _, kind := range []string{etcdv1beta2.EtcdClusterAvailable, "Ready"} {
			got := conditionOf(c, kind)
			for _, part := range []string{
				"False ClusterIDMismatch: status.clusterID is 00000000000000c1, but cluster 0000000000000bad responds",
				`kubectl patch etcdcluster example -n shop --subresource=status --type=merge -p '{"status":{"clusterID":"0000000000000bad"}}'`, "restore the original volumes",
			} {
				if !strings.Contains(got, part) {
					t.Errorf("%s: expected %s to say %q, got %s", name, kind, part, got)
				}
			}
		}
		if got := conditionOf(c, etcdv1beta2.EtcdClusterMembersReady); !strings.HasPrefix(got, "False ClusterIDMismatch: ") {
			t.Errorf("%s: expected MembersReady to say so too, got %s", name, got)
		}
		if c.Status.Quorum != "" || c.Status.QuorumLoss != nil {
			t.Errorf("%s: expected nothing to be said of the quorum, got %q and %+v", name, c.Status.Quorum, c.Status.QuorumLoss)
		}
		if d := w.decide(w.c); d.next.Step != nil {
			t.Errorf("%s: expected the membership to be left as it is, got %s", name, d.says())
		}
	}
}

func TestALossThatIsProvenGoesBeforeAWrongClusterID(t *testing.T) {
	w := answeredBy(observed(clustertest.New(), 3), 0xbad)
	delete(w.pods, model.MemberName(w.c, 0))
	delete(w.pods, model.MemberName(w.c, 1))
	c := reported(w)
	if got := conditionOf(c, "Ready"); !strings.HasPrefix(got, "False QuorumLost: ") || c.Status.QuorumLoss == nil {
		t.Errorf("expected the way back from the loss to be reported, got %s", got)
	}
}
