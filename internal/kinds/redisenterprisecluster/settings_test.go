// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestSettingsAreLiveOrReadAtTheStartOrTheOperatorsOwn(t *testing.T) {
	for name, want := range map[string]class{
		"maxmemory-policy": live, "appendfsync": live, "cluster-node-timeout": live, "save": live, "hz": live, "replica-priority": live, "maxclients": live,
		"io-threads": restart, "tcp-backlog": restart, "syslog-ident": restart, "server_cpulist": restart,
		"port": forbidden, "databases": forbidden, "cluster-databases": forbidden, "tls-port": forbidden, "cluster-announce-ip": forbidden, "user": forbidden, "unixsocketperm": forbidden,
		"maxmemory": forbidden, "enable-debug-command": forbidden, "cluster-enabled": forbidden, "appendfilename": forbidden, "replica-announce-ip": forbidden,
	} {
		if got := classOf(name); got != want {
			t.Errorf("%s: expected %s, got %s", name, want, got)
		}
	}
}

// What the CRD lets pass and the helper refuses would keep servers from starting.
func TestTheCRDRefusesAllThatIsTheOperatorsOwn(t *testing.T) {
	crd, err := os.ReadFile("../../../config/crd/bases/app.redislabs.com_redisenterpriseclusters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rule := strings.Join(strings.Fields(string(crd)), " ")
	for _, name := range ours {
		if !strings.Contains(rule, "'"+name+"'") && !strings.Contains(rule, "''"+name+"''") {
			t.Errorf("expected the rule of redisConfig to name %s", name)
		}
	}
	if want := "^(" + strings.Join(oursBegin, "|") + ")"; !strings.Contains(rule, want) {
		t.Errorf("expected the rule of redisConfig to have %s", want)
	}
}

func TestTheFileHasTheSettingsInOrderAndNoneOfTheOperators(t *testing.T) {
	c := newCluster(with(`redisConfig: {save: "", io-threads: "4", hz: "20", client-output-buffer-limit: replica 256mb 64mb 60, port: "1"}`))
	const want = "client-output-buffer-limit replica 256mb 64mb 60\nhz 20\nio-threads 4\nsave \"\"\n"
	if got := configFile(c); got != want {
		t.Errorf("expected\n%s, got\n%s", want, got)
	}
}

func TestPodsAreOthersOnlyForSettingsThatAreReadAtTheStart(t *testing.T) {
	before := newCluster(with("redisConfig: {maxmemory-policy: noeviction, io-threads: '4'}"))
	for config, same := range map[string]bool{
		"maxmemory-policy: allkeys-lru, io-threads: '4'": true,
		"maxmemory-policy: noeviction, io-threads: '8'":  false,
		"maxmemory-policy: noeviction":                   false,
	} {
		after := newCluster(with("redisConfig: {" + config + "}"))
		a, b := mustRead(t, before).template(before), mustRead(t, after).template(after)
		if reflect.DeepEqual(a, b) != same {
			t.Errorf("%s: expected the pods to stay as they are: %v", config, same)
		}
	}
}

func TestASettingThatWouldLockTheOperatorOutIsToldToNobody(t *testing.T) {
	for value, want := range map[string]bool{"99": true, "1": true, "-5": true, "100": false, "10000": false, "many": false} {
		c := newCluster(with("redisConfig: {maxclients: '" + value + "'}"))
		if _, told := settings(c, live)["maxclients"]; told == want {
			t.Errorf("%q: expected servers to be told: %v", value, !want)
		}
	}
}

func TestASettingByWhichAServerWouldEndIsToldOnlyToThoseThatRun(t *testing.T) {
	c := newCluster(with("redisConfig: {locale-collate: en_US.UTF-8, hz: '20'}"))
	if got := configFile(c); got != "hz 20\n" {
		t.Errorf("expected a server to start without it, got %q", got)
	}
	if settings(c, live)["locale-collate"] == "" {
		t.Error("expected servers that run to be told it, and refuse it")
	}
}
