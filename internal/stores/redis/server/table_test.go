// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

const nodesText = `aaa 10.0.0.1:6379@16379,rec-0.rec.shop.svc myself,master - 0 0 3 connected 0-5460 7000 [5->-bbb] [9-<-ccc]
bbb 10.0.0.2:6379@16379 master - 0 1795264810000 2 connected 5461-6999 7001-10922
ccc fd00::3:6379@16379,,shard-id=x master,fail? - 1795264800000 0 1 disconnected 10923-16383
ddd 10.0.0.2:6380@16380 slave aaa 0 1795264810000 3 connected
eee :0@0 slave,fail,noaddr bbb 0 0 0 disconnected
fff 10.0.0.9:6379@16379 handshake - 0 0 0 connected
`

func TestATableOfACluster(t *testing.T) {
	got, err := parseNodes(nodesText)
	if err != nil {
		t.Fatal(err)
	}
	want := []Peer{
		{ID: "aaa", Address: "10.0.0.1:6379", Hostname: "rec-0.rec.shop.svc", Role: Primary, Myself: true, Connected: true, ConfigEpoch: 3, Slots: Slots{{0, 5460}, {7000, 7000}}},
		{ID: "bbb", Address: "10.0.0.2:6379", Role: Primary, Connected: true, ConfigEpoch: 2, Slots: Slots{{5461, 6999}, {7001, 10922}}},
		{ID: "ccc", Address: "[fd00::3]:6379", Role: Primary, Failing: true, ConfigEpoch: 1, Slots: Slots{{10923, 16383}}},
		{ID: "ddd", Address: "10.0.0.2:6380", Role: Replica, PrimaryID: "aaa", Connected: true, ConfigEpoch: 3},
		{ID: "eee", Role: Replica, PrimaryID: "bbb", Failed: true},
		{ID: "fff", Address: "10.0.0.9:6379", Role: Primary, Handshake: true, Connected: true},
	}
	for i, peer := range got.peers {
		if !reflect.DeepEqual(peer, want[i]) {
			t.Errorf("expected\n%+v, got\n%+v", want[i], peer)
		}
	}
	if !reflect.DeepEqual(got.migrating, map[int]string{5: "bbb"}) || !reflect.DeepEqual(got.importing, map[int]string{9: "ccc"}) {
		t.Errorf("expected slot 5 to go to bbb and slot 9 to come from ccc, got %v and %v", got.migrating, got.importing)
	}
}

func TestATableThatCannotBeReadIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"too few words":       "aaa 10.0.0.1:6379@16379 master - 0 0 3",
		"slots out of range":  "aaa 10.0.0.1:6379@16379 master - 0 0 3 connected 0-16384",
		"slots the wrong way": "aaa 10.0.0.1:6379@16379 master - 0 0 3 connected 9-5",
		"an open slot":        "aaa 10.0.0.1:6379@16379 master - 0 0 3 connected [5]",
	} {
		if table, err := parseNodes(text); err == nil {
			t.Errorf("%s: expected an error, got %+v", name, table)
		}
	}
}

func TestWhatAProcessReportsAboutItself(t *testing.T) {
	replica := parseInfo(strings.Join([]string{
		"# Server", "redis_version:7.2.4", "valkey_version:8.1.4", "run_id:run", "role:slave", "master_host:10.0.0.1", "master_port:6379", "master_link_status:up",
		"slave_repl_offset:70", "master_repl_offset:60", "used_memory:300", "used_memory_dataset:200", "maxmemory:1000", "aof_last_write_status:err",
		"loading:0", "uptime_in_seconds:7", "second_repl_offset:50", "db0:keys=12,expires=0,avg_ttl=0", "errorstat_MOVED:count=17", "",
	}, "\r\n"))
	want := NodeStatus{
		RunID: "run", Version: Version{Number: "8.1.4", Valkey: true}, LinkUp: true, Source: "10.0.0.1:6379", Offset: 70, Keys: 12,
		UsedMemory: 300, Dataset: 200, MaxMemory: 1000, LogFails: true, Redirects: 17, Past: elections.Past{Led: true, Uptime: 7 * time.Second},
	}
	if !reflect.DeepEqual(replica, want) {
		t.Errorf("expected %+v, got %+v", want, replica)
	}
	for text, want := range map[string]bool{"role:slave\r\nsecond_repl_offset:-1": false, "role:slave\r\nsecond_repl_offset:50": true, "role:master\r\nsecond_repl_offset:50": false} {
		if got := parseInfo(text + "\r\n").Past.Led; got != want {
			t.Errorf("%q: expected a replica that has led: %t", text, want)
		}
	}
	if loading := parseInfo("redis_version:7.0.15\r\nloading:1\r\n"); !loading.Loading || loading.Version.Valkey {
		t.Errorf("expected a Redis that loads its data, got %+v", loading)
	}
}

func TestAReplicaReportsWhetherItSawItsPrimarySinceItStarted(t *testing.T) {
	for text, want := range map[string]bool{
		"role:slave\r\nmaster_link_status:down\r\nmaster_link_down_since_seconds:-1\r\n": true,
		"role:slave\r\nmaster_link_status:down\r\nmaster_link_down_since_seconds:42\r\n": false,
		"role:slave\r\nmaster_link_status:up\r\n":                                        false,
		"role:master\r\n": false,
	} {
		if got := parseInfo(text).Unlinked; got != want {
			t.Errorf("%q: expected %t", text, want)
		}
	}
}

func TestThePolicyShowsWhetherAnyKeyMayBeEvicted(t *testing.T) {
	for policy, want := range map[string]bool{
		"noeviction": false, "volatile-lru": false, "volatile-ttl": false, "allkeys-lru": true, "allkeys-lfu": true, "allkeys-random": true, "": false,
	} {
		if got := parseInfo("maxmemory_policy:" + policy + "\r\n").Evicts; got != want {
			t.Errorf("%q: expected %t", policy, want)
		}
	}
}

func TestSlotsAreReadFromText(t *testing.T) {
	for text, want := range map[string]string{"5": "5", "0-5460,7000": "0-5460,7000", "9,1-3,2-4": "1-4,9", "0-16383": "0-16383"} {
		if got, err := ParseSlots(text); err != nil || got.String() != want {
			t.Errorf("%s: expected %s, got %s (%v)", text, want, got, err)
		}
	}
	for _, text := range []string{"", "a", "1,", "1-", "-1", "3-1", "0-16384", "1 2"} {
		if got, err := ParseSlots(text); err == nil {
			t.Errorf("%q: expected an error, got %s", text, got)
		}
	}
}

func TestSlotsAreCountedAndTakenApart(t *testing.T) {
	all := SlotsOf(7, 1, 2, 3, 9, 2)
	if all.String() != "1-3,7,9" || all.Len() != 5 {
		t.Errorf("expected 5 slots 1-3,7,9, got %d: %s", all.Len(), all)
	}
	if rest := all.Without(SlotsOf(2, 9)); rest.String() != "1,3,7" {
		t.Errorf("expected 1,3,7 to be left, got %s", rest)
	}
	if both := all.Within(Slots{{2, 8}}); both.String() != "2-3,7" {
		t.Errorf("expected 2-3,7 to be among both, got %s", both)
	}
}

func TestAReplicaThatDoesNotKnowWhereItsPrimaryIsHasNotBeenConnectedToIt(t *testing.T) {
	const table = "aaa 10.0.0.1:6380@16380 myself,slave bbb 0 0 1 connected\nbbb :0@0 master,noaddr - 0 0 1 disconnected 0-9\n"
	for role, want := range map[string]bool{"role:master\n": true, "role:slave\nmaster_host:10.0.0.2\nmaster_port:6379\nmaster_link_status:up\n": false} {
		status := parseInfo(role)
		if err := status.join("cluster_state:ok", table); err != nil || status.Role != Replica || status.Unlinked != want {
			t.Errorf("%q: expected a replica that has not been connected: %t, got %+v (%v)", role, want, status, err)
		}
	}
}

func TestRedirectsAreReadFromTheErrorsOfAServer(t *testing.T) {
	for text, want := range map[string]int64{
		"errorstat_MOVED:count=4\r\n": 4,
		"errorstat_ERR:count=4\r\n":   0,
		"errorstat_MOVED:count=4\r\nerrorstat_ERRORSTATS_DISABLED:count=1\r\n": -1,
		"errorstat_MOVED:count=many\r\n":                                       -1,
	} {
		if got := parseInfo(text).Redirects; got != want {
			t.Errorf("%q: expected %d, got %d", text, want, got)
		}
	}
}
