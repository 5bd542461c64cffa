// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
)

func TestSettingsAreLiveOrReadAtTheStartOrTheOperatorsOwn(t *testing.T) {
	for name, want := range map[string]Class{
		"maxmemory-policy": Live, "appendfsync": Live, "cluster-node-timeout": Live, "save": Live, "hz": Live, "replica-priority": Live, "maxclients": Live,
		"io-threads": AtStart, "tcp-backlog": AtStart, "syslog-ident": AtStart, "server_cpulist": AtStart,
		"port": Forbidden, "databases": Forbidden, "cluster-databases": Forbidden, "tls-port": Forbidden, "cluster-announce-ip": Forbidden, "user": Forbidden, "unixsocketperm": Forbidden,
		"maxmemory": Forbidden, "enable-debug-command": Forbidden, "cluster-enabled": Forbidden, "appendfilename": Forbidden, "replica-announce-ip": Forbidden,
	} {
		if got := classOf(name); got != want {
			t.Errorf("%s: expected %s, got %s", name, want, got)
		}
	}
}

// The CRD and the agent must refuse the same settings. If the CRD accepted a setting that the agent refuses, servers
// could not start.
func TestTheCRDRefusesAllThatIsTheOperatorsOwn(t *testing.T) {
	crd := clustertest.ReadFile(t, "config/crd/bases/app.redislabs.com_redisenterpriseclusters.yaml")
	rule := strings.Join(strings.Fields(string(crd)), " ")
	for _, name := range operatorSettings {
		if !strings.Contains(rule, "'"+name+"'") && !strings.Contains(rule, "''"+name+"''") {
			t.Errorf("expected the rule of redisConfig to name %s", name)
		}
	}
	if want := "^(" + strings.Join(operatorPrefixes, "|") + ")"; !strings.Contains(rule, want) {
		t.Errorf("expected the rule of redisConfig to have %s", want)
	}
}

func TestTheFileHasTheSettingsInOrderAndNoneOfTheOperators(t *testing.T) {
	c := clustertest.New(clustertest.With(`redisConfig: {save: "", io-threads: "4", hz: "20", client-output-buffer-limit: replica 256mb 64mb 60, port: "1"}`))
	const want = "client-output-buffer-limit replica 256mb 64mb 60\nhz 20\nio-threads 4\nsave \"\"\n"
	if got := ConfigFile(c); got != want {
		t.Errorf("expected\n%s, got\n%s", want, got)
	}
}

func TestASettingThatWouldLockTheOperatorOutIsSentToNoServer(t *testing.T) {
	for value, want := range map[string]bool{"99": true, "1": true, "-5": true, "100": false, "10000": false, "many": false} {
		c := clustertest.New(clustertest.With("redisConfig: {maxclients: '" + value + "'}"))
		if _, reported := Settings(c, Live)["maxclients"]; reported == want {
			t.Errorf("%q: expected servers to get it: %v", value, !want)
		}
	}
}

func TestASettingByWhichAServerWouldEndIsReportedOnlyToThoseThatRun(t *testing.T) {
	c := clustertest.New(clustertest.With("redisConfig: {locale-collate: en_US.UTF-8, hz: '20'}"))
	if got := ConfigFile(c); got != "hz 20\n" {
		t.Errorf("expected a server to start without it, got %q", got)
	}
	if Settings(c, Live)["locale-collate"] == "" {
		t.Error("expected servers that run to get it, and refuse it")
	}
}
