// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

func TestOnlyAContainerThatIsStartedAgainMayBeCopied(t *testing.T) {
	const here, there = "# Written\ncluster-announce-ip 10.0.0.1\n", "# Written\ncluster-announce-ip 10.0.0.11\n"
	primary := facts{own: &clusternodes.Node{ID: id, Slots: []clusternodes.Range{{First: 0, Last: 9}}}, log: true}
	for name, test := range map[string]struct {
		before string
		found  facts
		is     bool
	}{
		"a primary that is started again":     {here, primary, false},
		"a replica that is started again":     {here, facts{own: &clusternodes.Node{ID: id, Primary: other}, log: true}, false},
		"the first start":                     {"", facts{}, true},
		"one that the operator did not admit": {here + "user \"opcrew\" on #ab ~* &* +@all -psync -sync\n", primary, true},
		"one that was written again":          {"cluster-announce-ip \"10.0.0.1\"\nuser opcrew on #ab ~* &* +@all\n", primary, false},
		"in another pod":                      {"", primary, true},
		"at another address":                  {there, primary, true},
		"one that has no part yet":            {here, facts{own: &clusternodes.Node{ID: id}, log: true}, true},
		"one that lost its log":               {here, facts{own: primary.own}, true},
		"one that lost its folder":            {here, facts{}, true},
	} {
		if got := mustBlock(test.before, "10.0.0.1", test.found); got != test.is {
			t.Errorf("%s: expected replication to be blocked: %t", name, test.is)
		}
	}
}

func TestTheAddressOfANodeIsRemovedFromATable(t *testing.T) {
	const rest = id + " 10.0.0.1:6380@16380 myself,slave " + other + " 0 0 1 connected\n"
	for name, test := range map[string]struct{ line, want string }{
		"of Redis":  {" 10.0.0.2:6379@16379 master - 0 1426238316232 2 connected 0-16383\n", " :0@0 master,noaddr - 0 1426238316232 2 connected 0-16383\n"},
		"of Valkey": {" fd00::2:6379@16379,shop-1.shop,tls-port=0,shard-id=ab master,fail - 0 0 2 connected 5\n", " :0@0,shop-1.shop,tls-port=0,shard-id=ab master,fail,noaddr - 0 0 2 connected 5\n"},
		"it is":     {" :0@0 master,noaddr - 0 0 2 disconnected 5\n", " :0@0 master,noaddr - 0 0 2 disconnected 5\n"},
	} {
		if got := withoutAddress(rest+other+test.line+vars, other); got != rest+other+test.want+vars {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
	if got := withoutAddress(rest+vars, other); got != rest+vars {
		t.Errorf("expected a table without the node to stay as it is, got\n%s", got)
	}
}
