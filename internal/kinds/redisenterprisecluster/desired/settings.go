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

// Class is the way in which a setting of redisConfig takes effect.
type Class string

// Classes of settings.
const (
	// Live settings are changed while a server runs (CONFIG SET).
	Live Class = "live"
	// AtStart settings are read when a server starts.
	AtStart Class = "restart"
	// Forbidden settings are reserved for the operator. The CRD refuses them, but objects that were stored earlier may
	// have them.
	Forbidden Class = "forbidden"
)

// operatorSettings are the settings that the cluster itself depends on. The CRD's rule has the same list.
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

// minClients is how many connections a server must allow at least, as replicas, the agent and the operator are clients
// too. If a server refused the operator, the operator could not raise the limit.
const minClients = 100

// locksOut reports whether a setting would keep the operator from ever changing it again.
func locksOut(name string, value redisv1alpha1.Setting) bool {
	n, err := strconv.Atoi(strings.TrimSpace(string(value)))
	return name == "maxclients" && err == nil && n < minClients
}

// Settings returns the settings of a class, without any that would lock the operator out.
func Settings(c *redisv1alpha1.RedisEnterpriseCluster, of Class) map[string]string {
	out := map[string]string{}
	for name, value := range c.Spec.RedisConfig {
		if classOf(name) == of && !locksOut(name, value) {
			out[name] = string(value)
		}
	}
	return out
}

// endsStart is a setting that makes a server exit at start if the image lacks the locale (server.c, initServer of Redis
// 7.2 and later; also Valkey). A running server just refuses it.
const endsStart = "locale-collate"

// ConfigFile returns redisConfig as the file that a server reads when it starts, sorted by name.
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
