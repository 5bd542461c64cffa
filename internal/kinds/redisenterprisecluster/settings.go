// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// class says how a setting of redisConfig comes into effect.
type class string

// Classes of settings.
const (
	// live settings are changed while a server runs (CONFIG SET).
	live class = "live"
	// restart settings are read when a server starts.
	restart class = "restart"
	// forbidden settings are the operator's own; the CRD refuses them, but for those that were stored before it did.
	forbidden class = "forbidden"
)

// ours are the settings that make the cluster what it is, as the rule of the CRD has them.
var (
	ours = []string{
		"port", "bind", "bind-source-addr", "dir", "dbfilename", "appendonly", "appendfilename", "appenddirname", "cluster-enabled", "cluster-port",
		"cluster-config-file", "cluster-require-full-coverage", "cluster-allow-replica-migration", "cluster-migration-barrier",
		"cluster-replica-validity-factor", "cluster-slave-validity-factor", "cluster-replica-no-failover", "cluster-slave-no-failover",
		"requirepass", "masterauth", "masteruser", "primaryauth", "primaryuser", "aclfile", "user", "include", "loadmodule", "rename-command",
		"daemonize", "supervised", "pidfile", "logfile", "protected-mode", "replicaof", "slaveof", "maxmemory", "databases", "cluster-databases",
	}
	oursBegin = []string{"tls-", "cluster-announce-", "replica-announce-", "slave-announce-", "unixsocket", "enable-"}
)

func classOf(name string) class {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	switch {
	case slices.Contains(ours, name) || slices.ContainsFunc(oursBegin, begins):
		return forbidden
	case redispod.ReadAtStart(name):
		return restart
	}
	return live
}

// fewestClients is how many connections a server must take at least: replicas, the agent and the operator are clients
// too, and one that they cannot reach could not even be informed of more.
const fewestClients = 100

// locksOut reports whether a setting would keep the operator from ever setting it again.
func locksOut(name string, value redisv1alpha1.Setting) bool {
	n, err := strconv.Atoi(strings.TrimSpace(string(value)))
	return name == "maxclients" && err == nil && n < fewestClients
}

// settings are those of a class, without any that locks out.
func settings(c *redisv1alpha1.RedisEnterpriseCluster, of class) map[string]string {
	out := map[string]string{}
	for name, value := range c.Spec.RedisConfig {
		if classOf(name) == of && !locksOut(name, value) {
			out[name] = string(value)
		}
	}
	return out
}

// endsStart is a setting that servers read well and then end by, where the image lacks the locale (server.c, initServer of
// Redis 7.2 and later; Valkey too). Told while they run they only refuse it.
const endsStart = "locale-collate"

// configFile is redisConfig as a server reads it when it starts, in the order of the names.
func configFile(c *redisv1alpha1.RedisEnterpriseCluster) string {
	all := settings(c, live)
	delete(all, endsStart)
	maps.Copy(all, settings(c, restart))
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		if strings.TrimSpace(value) == "" {
			value = `""`
		}
		fmt.Fprintf(&text, "%s %s\n", name, value)
	}
	return text.String()
}

// attempt is how long a replica may wait before its election begins (CLUSTER_MF_TIMEOUT).
const attempt = 5 * time.Second

// electionPause is for how long after an election of a replica there is to be no other.
func electionPause(c *redisv1alpha1.RedisEnterpriseCluster) time.Duration {
	const ours = 5000 // milliseconds: see internal/agents/redisserver
	timeout, err := strconv.Atoi(strings.TrimSpace(string(c.Spec.RedisConfig["cluster-node-timeout"])))
	if err != nil || timeout <= 0 {
		timeout = ours
	}
	return elections.Pause(time.Duration(timeout) * time.Millisecond)
}
