// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redispod

import "slices"

// ReadAtStart reports whether Redis reads a setting only at its start. Redis calls these settings immutable
// (IMMUTABLE_CONFIG in config.c of Redis 7.0 to 8.0 and Valkey 8.1). Until 7.0, the names of settings with CPU lists
// had underscores.
func ReadAtStart(name string) bool {
	return slices.Contains([]string{
		"always-show-logo", "disable-thp", "io-threads", "io-threads-do-reads", "rdbchecksum", "set-proc-title",
		"aof-rewrite-cpulist", "aof_rewrite_cpulist", "bgsave-cpulist", "bgsave_cpulist", "bio-cpulist", "bio_cpulist", "server-cpulist", "server_cpulist",
		"socket-mark-id", "syslog-enabled", "syslog-facility", "syslog-ident", "tcp-backlog",
	}, name)
}
