// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

const (
	primaryInfo = `# Memory
used_memory:1048576
used_memory_rss:2000000
maxmemory:3221225472

# Stats
total_commands_processed:77

# Replication
role:master
connected_slaves:1
slave0:ip=10.0.0.2,port=6380,state=online,offset=100,lag=1
slave_expires_tracked_keys:0
master_repl_offset:130

# Keyspace
db0:keys=40,expires=0,avg_ttl=0
db1:keys=2,expires=0,avg_ttl=0
loading:0
`
	replicaInfo = "role:slave\r\nmaster_link_status:up\r\nused_memory:500\r\nmaxmemory:0\r\nloading:0\r\n"
	table       = `a1 10.0.0.1:6379@16379,shop-0.shop.web.svc myself,master - 0 0 1 connected 0-8191
a2 10.0.0.1:6380@16380,shop-0.shop.web.svc slave b1 0 0 2 connected
b1 10.0.0.2:6379@16379,shop-1.shop.web.svc master - 0 0 2 connected 8192-16382 16383
b2 10.0.0.2:6380@16380,shop-1.shop.web.svc slave a1 0 0 1 disconnected
c1 10.0.0.3:6379@16379,shop-<script>.shop.web.svc master,fail - 0 0 0 disconnected
`
)

func statusOf(t *testing.T, text, state, nodes string) status {
	t.Helper()
	parsed, err := clusternodes.Parse(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return status{info: parseInfo(text), state: parseInfo(state), nodes: parsed}
}

func wellPod(t *testing.T) view {
	t.Helper()
	const ok = "cluster_state:ok\r\n"
	return view{statusOf(t, primaryInfo, ok, table), statusOf(t, replicaInfo, ok, strings.ReplaceAll(table, "myself,", ""))}
}

func TestAPodIsReadyOnlyWithItsRoleInTheRing(t *testing.T) {
	if err := wellPod(t).ready(); err != nil {
		t.Errorf("expected a pod that is ready, got %v", err)
	}
	for name, test := range map[string]struct {
		damage func(*view)
		want   string
	}{
		"home is gone":                  {func(v *view) { v.home = status{err: errors.New("connection refused")} }, "home does not respond: connection refused"},
		"guest is gone":                 {func(v *view) { v.guest = status{err: errors.New("timeout")} }, "guest does not respond: timeout"},
		"home is loading":               {func(v *view) { v.home = status{info: info{"loading": "1", "role": "master"}} }, "home is loading its data"},
		"guest is loading":              {func(v *view) { v.guest = status{info: info{"loading": "1", "role": "slave"}} }, "guest is loading its data"},
		"home was failed over":          {func(v *view) { v.home.info["role"] = "slave" }, "home is a replica, so another server is the primary of its shard"},
		"home leads nothing":            {func(v *view) { v.home.nodes = nil }, "home has no slots"},
		"guest leads":                   {func(v *view) { v.guest.info["role"] = "master" }, "guest is not a replica"},
		"guest has lost its primary":    {func(v *view) { v.guest.info["master_link_status"] = "down" }, "guest has no link to its primary"},
		"home sees too few":             {func(v *view) { v.home.state["cluster_state"] = "fail" }, `home reports cluster_state "fail"`},
		"guest knows nothing of a ring": {func(v *view) { v.guest.state = nil }, `guest reports cluster_state ""`},
		"nothing was asked yet":         {func(v *view) { *v = view{} }, "home is a replica"},
	} {
		t.Run(name, func(t *testing.T) {
			v := wellPod(t)
			test.damage(&v)
			if err := v.ready(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("expected %q, got %v", test.want, err)
			}
		})
	}
}

func TestMetricsAreThoseThatAreKnown(t *testing.T) {
	var out bytes.Buffer
	wellPod(t).writeMetrics(&out)
	golden.Check(t, "metrics.yaml", out.String())
	out.Reset()
	view{status{err: errors.New("gone")}, status{info: info{"loading": "1"}}}.writeMetrics(&out)
	for line, want := range map[string]bool{
		`opcrew_redis_up{place="home"} 0`: true, `opcrew_redis_up{place="guest"} 1`: true, `opcrew_redis_loading{place="guest"} 1`: true,
		`opcrew_redis_primary{place="home"}`: false, `opcrew_redis_keys{place="home"}`: false, `opcrew_redis_slots{place="home"}`: false,
	} {
		if strings.Contains(out.String(), line) != want {
			t.Errorf("%s is there: %v, expected %v", line, !want, want)
		}
	}
}

func TestMetricsAreReadAsTheyAreWritten(t *testing.T) {
	var out bytes.Buffer
	wellPod(t).writeMetrics(&out)
	read, err := parseNumbers(&out)
	if err != nil {
		t.Fatal(err)
	}
	if keys, known := read.of(keysMetric, "home"); keys != 42 || !known {
		t.Errorf("keys are %v, %v", keys, known)
	}
	if lag, known := read.lag("home", "10.0.0.2:6380"); lag != 30 || !known {
		t.Errorf("the lag is %v, %v", lag, known)
	}
	if _, known := read.of(keysMetric, "cellar"); known {
		t.Error("an unknown place has keys")
	}
}

func TestThePageShowsTheWholeRingAndEscapesIt(t *testing.T) {
	v := wellPod(t)
	var own bytes.Buffer
	v.writeMetrics(&own)
	read, err := parseNumbers(&own)
	if err != nil {
		t.Fatal(err)
	}
	all := ring{nodes: v.table(), home: 6379, guest: 6380, numbers: map[string]numbers{"10.0.0.1": read}}
	text := render("shop <1>", errors.New("guest <is> gone"), all.rows(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	golden.Check(t, "page.yaml", text)
	if strings.Contains(text, "<script>") || strings.Contains(text, "<is>") || strings.Contains(text, "<1>") {
		t.Errorf("text of another program is not escaped:\n%s", text)
	}
}

func TestSizesHaveTheUnitThatIsRead(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 3 << 29: "1.5 GiB", 1 << 50: "1024.0 TiB"} {
		if got := size(bytes, true); got != want {
			t.Errorf("%v bytes are %s, expected %s", bytes, got, want)
		}
	}
	if got := size(1, false); got != "" {
		t.Errorf("an unknown value is %q", got)
	}
}
