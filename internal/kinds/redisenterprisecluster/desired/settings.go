// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// Class describes when a changed setting of redisConfig takes effect.
type Class string

// The classes of settings.
const (
	// Live settings take effect while a server runs (CONFIG SET).
	Live Class = "live"
	// AtStart settings take effect when a server restarts.
	AtStart Class = "restart"
	// Forbidden settings are reserved for the operator. The CRD refuses them, but objects that were stored under an
	// older CRD may contain them.
	Forbidden Class = "forbidden"
)

// operatorSettings are settings that only the operator may set, because the cluster depends on them. A validation rule
// of the CRD lists the same settings.
var (
	operatorSettings = []string{
		"port", "bind", "bind-source-addr", "dir", "dbfilename", "appendonly", "appendfilename", "appenddirname", "cluster-enabled", "cluster-port",
		"cluster-config-file", "cluster-require-full-coverage", "cluster-allow-replica-migration", "cluster-migration-barrier",
		"cluster-replica-validity-factor", "cluster-slave-validity-factor", "cluster-replica-no-failover", "cluster-slave-no-failover",
		"requirepass", "masterauth", "masteruser", "primaryauth", "primaryuser", "aclfile", "user", "include", "loadmodule", "rename-command",
		"daemonize", "supervised", "pidfile", "logfile", "protected-mode", "replicaof", "slaveof", "maxmemory", "databases", "cluster-databases",
	}
	operatorPrefixes = []string{"tls-", "cluster-announce-", "replica-announce-", "slave-announce-", "unixsocket", "enable-"}
)

func classOf(name string) Class {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	switch {
	case slices.Contains(operatorSettings, name) || slices.ContainsFunc(operatorPrefixes, begins):
		return Forbidden
	case redispod.ReadAtStart(name):
		return AtStart
	}
	return Live
}

// minClients is the minimum number of client connections that a server must allow. Replicas, the agent and the operator
// need connections too. If a server refused the operator, the operator could not raise the limit again.
const minClients = 100

// locksOut reports whether a setting would keep the operator from connecting to the servers, so that it could never
// correct the setting.
func locksOut(name string, value redisv1alpha1.Setting) bool {
	n, err := strconv.Atoi(strings.TrimSpace(string(value)))
	return name == "maxclients" && err == nil && n < minClients
}

// Settings returns the redisConfig settings of a class, without settings that would lock the operator out.
func Settings(c *redisv1alpha1.RedisEnterpriseCluster, of Class) map[string]string {
	out := map[string]string{}
	for name, value := range c.Spec.RedisConfig {
		if classOf(name) == of && !locksOut(name, value) {
			out[name] = string(value)
		}
	}
	return out
}

// endsStart is a setting that stops a server at start if the image lacks the locale (server.c, initServer, in Redis 7.2
// and later and in Valkey). A running server only refuses such a value and keeps running.
const endsStart = "locale-collate"

// ConfigFile returns redisConfig in the format of redis.conf, sorted by name. Servers read it when they start.
func ConfigFile(c *redisv1alpha1.RedisEnterpriseCluster) string {
	all := Settings(c, Live)
	delete(all, endsStart)
	maps.Copy(all, Settings(c, AtStart))
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
