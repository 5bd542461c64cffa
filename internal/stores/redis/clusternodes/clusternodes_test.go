// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package clusternodes

import (
	"slices"
	"strings"
	"testing"
)

const table = `07c37dfeb235213a872192d90877d0cd55635b91 10.0.0.2:6380@16380,shop-1.shop.web.svc slave e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 0 1426238317239 4 connected
67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1 fd00::12:6379@16379,,shard-id=69bc080733d1355567173199cff4a6a039a2f024 master,fail? - 0 1426238316232 2 disconnected 5461-10922
e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 10.0.0.1:6379@16379,shop-0.shop.web.svc,tls-port=0 myself,master - 0 0 1 connected 0-5459 5460 10923 [5459->-67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1] [5461-<-67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1] [more]
aaaa2db8d677e59ec4a4cefb06858cf2a1a89fa1 :0@0,shard-id=1 master,noaddr - 0 0 0 disconnected
vars currentEpoch 6 lastVoteEpoch 0
`

func TestATableHasTheOwnersOfSlotsAndTheirAddresses(t *testing.T) {
	nodes, err := Parse(table)
	if err != nil || len(nodes) != 4 {
		t.Fatalf("expected four nodes, got %+v, error %v", nodes, err)
	}
	replica, own, lost := nodes[0], nodes[2], nodes[3]
	if replica.Address != "10.0.0.2:6380" || replica.Hostname != "shop-1.shop.web.svc" || replica.Primary != own.ID || !replica.Is("slave") || !replica.Linked {
		t.Errorf("the replica is read as %+v", replica)
	}
	if own.SlotCount() != 5462 || !slices.Equal(own.Slots, []Range{{0, 5459}, {5460, 5460}, {10923, 10923}}) || own.Primary != "" {
		t.Errorf("the own line is read as %+v", own)
	}
	if lost.Address != ":0" || lost.Hostname != "" {
		t.Errorf("the node without an address is read as %+v", lost)
	}
	if found, ok := Myself(nodes); !ok || found.ID != own.ID {
		t.Errorf("the own line is said to be %+v", found)
	}
}

func TestATableHasTheEpochOfEachNodesSlots(t *testing.T) {
	nodes, err := Parse(table)
	if err != nil {
		t.Fatal(err)
	}
	var epochs []uint64
	for _, n := range nodes {
		epochs = append(epochs, n.Epoch)
	}
	if !slices.Equal(epochs, []uint64{4, 2, 1, 0}) {
		t.Errorf("expected the epochs 4, 2, 1 and 0, got %v", epochs)
	}
}

func TestATableHasTheSlotsOnTheirWay(t *testing.T) {
	nodes, err := Parse(table)
	own, _ := Myself(nodes)
	if err != nil || len(own.Migrating) != 1 || own.Migrating[5459] != nodes[1].ID || len(own.Importing) != 1 || own.Importing[5461] != nodes[1].ID {
		t.Errorf("the slots on their way are read as %v and %v, error %v", own.Migrating, own.Importing, err)
	}
	if !slices.Equal(own.Unreadable, []string{"more"}) {
		t.Errorf("expected what is written otherwise to be kept, got %q", own.Unreadable)
	}
}

func TestAPrimaryThatDoesNotAnswerOneServerIsNotOneThatFailed(t *testing.T) {
	nodes, err := Parse(table)
	if err != nil || len(nodes) != 4 {
		t.Fatalf("expected four nodes, got %+v, error %v", nodes, err)
	}
	failing := nodes[1]
	if failing.Address != "[fd00::12]:6379" || failing.Hostname != "" || !failing.Is("fail?") || failing.Is("fail") || failing.Linked || failing.SlotCount() != 5462 {
		t.Errorf("the failing primary is read as %+v", failing)
	}
}

func TestAnEmptyTableHasNoOwnLine(t *testing.T) {
	nodes, err := Parse("vars currentEpoch 0 lastVoteEpoch 0\n\n")
	if _, ok := Myself(nodes); ok || err != nil {
		t.Errorf("expected no node, got %+v, error %v", nodes, err)
	}
}

func TestWhatIsNoTableIsAnError(t *testing.T) {
	line := strings.SplitAfter(table, "\n")[1]
	for name, text := range map[string]string{
		"cut off":             line[:60],
		"words for slots":     strings.Replace(line, "5461-10922", "many", 1),
		"more slots than are": strings.Replace(line, "10922", "16384", 1),
		"slots turned round":  strings.Replace(line, "10922", "5460", 1),
		"a slot below zero":   strings.Replace(line, "5461-10922", "-1", 1),
	} {
		if nodes, err := Parse(text); err == nil {
			t.Errorf("%s: expected an error, got %+v", name, nodes)
		}
	}
}

func TestRangesArePrintedAsTheServersPrintThem(t *testing.T) {
	if one, more := (Range{7, 7}).String(), (Range{0, LastSlot}).String(); one != "7" || more != "0-16383" {
		t.Errorf("got %s and %s", one, more)
	}
}
