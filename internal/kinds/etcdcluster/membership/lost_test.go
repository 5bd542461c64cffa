// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

func TestALostMemberIsReplacedWhileAQuorumIsLeft(t *testing.T) {
	lost := func(m *model.Member) { m.Lost, m.Healthy = "its claim is gone", false }
	unhealthy := func(in *Input, ids ...uint64) *Input {
		for _, id := range ids {
			in.View.Status[id] = etcd.MemberStatus{}
		}
		return in
	}
	for name, test := range map[string]struct {
		in   *Input
		want string
	}{
		"none is lost":          {healthy(3), "nothing"},
		"one of three":          {unhealthy(healthy(3, nil, lost), 0x101), "remove member b"},
		"and another is silent": {unhealthy(healthy(3, nil, lost), 0x101, 0x102), "wait for a quorum of healthy voters, which is needed to replace b"},
	} {
		if got := says(replaceLost(test.in)); got != test.want {
			t.Errorf("%s: expected to %s, got %s", name, test.want, got)
		}
	}
}
