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

// directive is a line of the configuration.
type directive struct{ name, value string }

// inputs are all that a configuration depends on.
type inputs struct {
	Options
	users users
	extra []directive // the user's
	version
	stranger bool // nobody may copy it yet
}

// config is the text of the configuration. Of a directive that stands there twice the later
// one counts: the user's are behind what they may change, and before what they may not.
func (in inputs) config() string {
	return "# Written at each start: changes of this file are lost.\n" +
		lines(slices.Concat(in.defaults(), in.extra, in.fixed(), in.users.directives(in.stranger)))
}

// lines are directives as servers read them, a line each.
func lines(directives []directive) string {
	var out strings.Builder
	for _, d := range directives {
		fmt.Fprintf(&out, "%s %s\n", d.name, d.value)
	}
	return out.String()
}

// defaults are what a user may have otherwise.
func (in inputs) defaults() []directive {
	out := []directive{
		{"appendfsync", "everysec"},
		// The log of writes is what a server starts from. Snapshots beside it would only take
		// memory and disk.
		{"save", `""`},
		{"maxmemory-policy", "noeviction"},
		// Else a replica that writes its first log refuses SIGTERM, and never looks at it again:
		// it would be killed when the pod's patience is at its end.
		{"shutdown-on-sigterm", "force"},
		// A replica waits for no others that might want the same copy: there is one a shard.
		{"repl-diskless-sync-delay", "0"},
		{"cluster-node-timeout", "5000"}, // milliseconds
	}
	if in.movesSlots() {
		// Else a server that is written to all the time waits, before it hands slots over, for a moment in which it has
		// nothing to send. This much is sent in well under a second, in which clients wait.
		out = append(out, directive{"slot-migration-max-failover-repl-bytes", strconv.Itoa(16 << 20)})
		// Of what has been moved no one needs to hear for long, and all of it is told at each look.
		out = append(out, directive{"cluster-slot-migration-log-max-len", "32"})
	}
	if in.movesSlots() && in.MemoryLimit > 0 {
		// What is written while slots go waits in memory beside that for data: at most in all that is left for it, and
		// in a fourth of that for a minute, as by default of 256 MiB.
		most := min(256<<20, in.MemoryLimit/4)
		out = append(out, directive{"client-output-buffer-limit", fmt.Sprintf("replica %d %d 60", most, most/4)})
	}
	if in.MemoryLimit > 0 {
		// The rest is for what counts as no data: buffers of clients and replicas, pages that
		// are copied while the log is rewritten, fragments.
		out = append(out, directive{"maxmemory", strconv.FormatInt(in.MemoryLimit/4*3, 10)})
	}
	return out
}

const announceIP = "cluster-announce-ip"

// fixed are what the ring, the gate and the operator rely on.
func (in inputs) fixed() []directive {
	out := []directive{
		{"port", strconv.Itoa(in.Port)},
		{"bind", "* -::*"},
		{"protected-mode", "no"}, // users have passwords
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
		// Who replicates whom is the operator's to say.
		{"cluster-allow-replica-migration", "no"},
		// A replica is elected however long ago it last heard of its primary, but never one that has not had its
		// data at all since it started, as with 0: the primary would come back and empty itself.
		{"cluster-replica-validity-factor", "1000000"},
		{announceIP, in.AnnounceIP},
	}
	if in.AnnounceHostname != "" {
		out = append(out, directive{"cluster-announce-hostname", in.AnnounceHostname})
	}
	return out
}

// harmful directives do not end at their own line: of these the later one does not replace
// the earlier, or others are read through them.
func harmful() []string {
	return []string{"user", "aclfile", "requirepass", "masteruser", "masterauth", "include", "loadmodule", "rename-command", "replicaof", "slaveof",
		"cluster-databases"} // what is in others than the first would be lost where slots go by their keys
}

// parseExtra reads the user's directives. One that is not theirs to give is an error: it would
// have no effect, or a bad one.
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
			bad = append(bad, fmt.Errorf("the directive %s is not for users to give", d.name))
		}
		out = append(out, d)
	}
	return out, errors.Join(bad...)
}

func (in inputs) reserved(name string) bool {
	return slices.Contains(harmful(), name) || slices.ContainsFunc(in.fixed(), func(d directive) bool { return d.name == name })
}

// quote writes a value in the way that these servers read it, which is not Go's.
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
