// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// directive is one line of the Redis configuration.
type directive struct{ name, value string }

// inputs holds everything that the configuration depends on.
type inputs struct {
	Options
	users users
	extra []directive // directives that the user wrote in the spec
	version
	blocked bool // whether replicas must not copy the server yet
}

// config returns the text of the configuration. If a directive occurs several times, the last one wins. Therefore the
// directives of the user come after the defaults and before the fixed ones.
func (in inputs) config() string {
	return "# opcrew writes this file at each start; changes to it are lost.\n" +
		lines(slices.Concat(in.defaults(), in.extra, in.fixed(), in.users.directives(in.blocked)))
}

// lines formats directives as text, one per line.
func lines(directives []directive) string {
	var out strings.Builder
	for _, d := range directives {
		fmt.Fprintf(&out, "%s %s\n", d.name, d.value)
	}
	return out.String()
}

// defaults returns the directives that users can override.
func (in inputs) defaults() []directive {
	out := []directive{
		{"appendfsync", "everysec"},
		// The server loads its data from the append-only file, so snapshots would only use memory and disk.
		{"save", `""`},
		{"maxmemory-policy", "noeviction"},
		// Without this directive, a replica that is writing its first append-only file ignores SIGTERM until the
		// kubelet kills it.
		{"shutdown-on-sigterm", "force"},
		// Each shard has only one replica, so waiting for further replicas is useless.
		{"repl-diskless-sync-delay", "0"},
		{"cluster-node-timeout", "5000"}, // milliseconds
	}
	if in.movesSlots() {
		// By default, the source hands over a slot only at a moment when no writes remain to be sent. With this limit,
		// it hands over the slot as soon as at most this many bytes remain. Clients wait while these bytes are sent,
		// which takes well under a second.
		out = append(out, directive{"slot-migration-max-failover-repl-bytes", strconv.Itoa(16 << 20)})
		// The operator always reads the whole log of slot migrations, so the log is kept short.
		out = append(out, directive{"cluster-slot-migration-log-max-len", "32"})
	}
	if in.movesSlots() && in.MemoryLimit > 0 {
		// During a slot move, the server buffers writes in memory. As a hard limit, the buffer may use all memory that
		// is not reserved for data, up to the default of 256 MiB. As in the default, the soft limit is a quarter of
		// the hard limit: the buffer may exceed it for a minute.
		most := min(256<<20, in.MemoryLimit/4)
		out = append(out, directive{"client-output-buffer-limit", fmt.Sprintf("replica %d %d 60", most, most/4)})
	}
	if in.MemoryLimit > 0 {
		// A server may use three quarters of the memory limit for data. The last quarter is for buffers, fragmentation,
		// and pages that are copied while the append-only file is rewritten.
		out = append(out, directive{"maxmemory", strconv.FormatInt(in.MemoryLimit/4*3, 10)})
	}
	return out
}

const announceIP = "cluster-announce-ip"

// fixed returns the directives that the agents and the operator rely on. Users cannot override them.
func (in inputs) fixed() []directive {
	out := []directive{
		{"port", strconv.Itoa(in.Port)},
		{"bind", "* -::*"},
		{"protected-mode", "no"}, // not needed, because all users have passwords
		{"daemonize", "no"},
		{"logfile", `""`},
		{"dir", quote(in.Folder())},
		{"dbfilename", "dump.rdb"},
		{"appendonly", "yes"},
		{"appendfilename", "appendonly.aof"},
		{"appenddirname", logFolder},
		{"cluster-enabled", "yes"},
		{"cluster-config-file", nodesFile},
		{"cluster-require-full-coverage", "no"},
		// Servers must not choose their primary, because the operator decides which server replicates which.
		{"cluster-allow-replica-migration", "no"},
		// A replica may be elected regardless of when it last heard from its primary. The value 0 would also allow the
		// election of a replica without data, from which the old primary would then copy.
		{"cluster-replica-validity-factor", "1000000"},
		{announceIP, in.AnnounceIP},
	}
	if in.AnnounceHostname != "" {
		out = append(out, directive{"cluster-announce-hostname", in.AnnounceHostname})
	}
	return out
}

// harmful returns directives that users cannot set, because a later directive does not replace them or because they
// read other files.
func harmful() []string {
	return []string{"user", "aclfile", "requirepass", "masteruser", "masterauth", "include", "loadmodule", "rename-command", "replicaof", "slaveof",
		// If there were several databases, a slot move would leave behind the keys of all databases except 0.
		"cluster-databases"}
}

// parseExtra parses the directives of the user. A reserved directive is an error, because it would have no effect or do
// harm.
func (in inputs) parseExtra(text string) ([]directive, error) {
	var out []directive
	var bad []error
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		d := directive{strings.ToLower(name), strings.TrimSpace(value)}
		if in.reserved(d.name) {
			bad = append(bad, fmt.Errorf("the directive %s is reserved, so users cannot set it", d.name))
		}
		out = append(out, d)
	}
	return out, errors.Join(bad...)
}

func (in inputs) reserved(name string) bool {
	return slices.Contains(harmful(), name) || slices.ContainsFunc(in.fixed(), func(d directive) bool { return d.name == name })
}

// quote quotes a value in the syntax of the Redis configuration, which differs from the syntax of Go.
func quote(value string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, b := range []byte(value) {
		switch {
		case b == '"' || b == '\\':
			out.WriteByte('\\')
			out.WriteByte(b)
		case b < ' ' || b > '~':
			fmt.Fprintf(&out, `\x%02x`, b)
		default:
			out.WriteByte(b)
		}
	}
	out.WriteByte('"')
	return out.String()
}
