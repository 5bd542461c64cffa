// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// firstMembers returns the members that form a new cluster.
func firstMembers(c *etcdv1beta2.EtcdCluster) []model.Member {
	var out []model.Member
	for serial := range int64(c.Spec.Size) {
		name := model.MemberName(c, serial)
		out = append(out, model.Member{Name: name, Serial: serial, ID: model.BootstrapID(c, name), Started: true})
	}
	return out
}

func TestTheChildrenOfTheArticlesClusterAndOfOneWithAllFields(t *testing.T) {
	for name, c := range map[string]*etcdv1beta2.EtcdCluster{
		"article": clustertest.New(clustertest.Unformed), "all-fields": clustertest.New(clustertest.Unformed, clustertest.WithClaims, clustertest.WithAll),
	} {
		members := firstMembers(c)
		b := Builder{Cluster: c, AgentImage: "opcrew-agent:test", FirstMembers: 3}
		golden.Check(t, name+"-network.yaml", NetworkPolicy(c, "opcrew-system"))
		golden.Check(t, name+"-peers.yaml", PeerService(c))
		golden.Check(t, name+"-clients.yaml", ClientService(c))
		golden.Check(t, name+"-connection.yaml", Connection(c))
		golden.Check(t, name+"-budget.yaml", DisruptionBudget(c, members))
		golden.Check(t, name+"-pod.yaml", b.Pod(members[1], members, versions.Desired(c)))
		if model.Persistent(c) {
			golden.Check(t, name+"-claim.yaml", b.Claim(members[1]))
		}
	}
}

func TestAPodThatJoinsKnowsAllMembersAndMayNotBeginAClusterOfItsOwn(t *testing.T) {
	c := clustertest.New()
	var members []model.Member
	for serial := range int64(4) {
		members = append(members, model.Member{Name: model.MemberName(c, serial), Serial: serial, ID: uint64(0x100 + serial), Started: serial < 3, Learner: serial == 3})
	}
	b := Builder{Cluster: c, AgentImage: "opcrew-agent:test", FirstMembers: 3}
	golden.Check(t, "joining-pod.yaml", b.Pod(members[3], members, versions.Desired(c)))
}

// Until the first members have formed the cluster, opcrew may recreate them without their data, so clients must not
// reach them yet.
func TestClientsComeToVotersOfAFormedClusterOnly(t *testing.T) {
	for name, test := range map[string]struct {
		c               *etcdv1beta2.EtcdCluster
		started, learns bool
		want            string
	}{
		"a voter":                       {clustertest.New(), true, false, model.IsVoter},
		"a voter that has not run yet":  {clustertest.New(), false, false, ""},
		"a learner":                     {clustertest.New(), true, true, ""},
		"before the cluster was formed": {clustertest.New(clustertest.Unformed, clustertest.WithLabel(model.VoterLabel, model.IsVoter)), true, false, ""},
	} {
		if got := (Builder{Cluster: test.c}).podLabels(model.Member{Name: "m", Started: test.started, Learner: test.learns})[model.VoterLabel]; got != test.want {
			t.Errorf("%s: expected %q for the label that clients are led by, got %q", name, test.want, got)
		}
	}
}
