// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// metric is a number about a server. It has no value if the server does not report one.
type metric struct {
	name, kind, help string
	value            func(status) (float64, bool)
}

const (
	prefix       = "opcrew_redis_"
	gauge        = "gauge"
	counter      = "counter"
	keysMetric   = prefix + "keys"
	memoryMetric = prefix + "memory_used_bytes"
	maxMetric    = prefix + "memory_max_bytes"
	lagMetric    = prefix + "replication_lag_bytes"
)

func metrics() []metric {
	return []metric{
		{prefix + "up", gauge, "Whether the server answers the agent.", bit(func(s status) bool { return s.err == nil })},
		{prefix + "loading", gauge, "Whether the server is loading its data.", bit(status.loading)},
		{prefix + "primary", gauge, "1: the server is a primary; 0: a replica.", known(status.primary)},
		{prefix + "link_up", gauge, "Whether a replica has a link to its primary.", func(s status) (float64, bool) {
			value, _ := known(status.linkUp)(s)
			return value, s.err == nil && !s.primary()
		}},
		{prefix + "cluster_ok", gauge, "Whether the server sees a working cluster.", known(status.ok)},
		{prefix + "slots", gauge, "Slots that the server owns.", func(s status) (float64, bool) { return float64(s.slots()), s.nodes != nil }},
		{keysMetric, gauge, "Keys that the server has.", func(s status) (float64, bool) { return s.keys(), s.err == nil }},
		field(memoryMetric, gauge, "Memory that counts against the limit of the server, in bytes.", "used_memory"),
		field(maxMetric, gauge, "Limit of the server's memory, in bytes; 0: none.", "maxmemory"),
		field(prefix+"memory_resident_bytes", gauge, "Memory of the process, in bytes.", "used_memory_rss"),
		field(prefix+"clients", gauge, "Connections of clients.", "connected_clients"),
		field(prefix+"replicas", gauge, "Replicas that are connected.", "connected_slaves"),
		field(prefix+"commands_total", counter, "Commands that were processed.", "total_commands_processed"),
		field(prefix+"keyspace_hits_total", counter, "Reads that found their key.", "keyspace_hits"),
		field(prefix+"keyspace_misses_total", counter, "Reads that did not find their key.", "keyspace_misses"),
		field(prefix+"expired_keys_total", counter, "Keys that were deleted because they expired.", "expired_keys"),
		field(prefix+"evicted_keys_total", counter, "Keys that were deleted to free memory.", "evicted_keys"),
		field(prefix+"received_bytes_total", counter, "Bytes from the network.", "total_net_input_bytes"),
		field(prefix+"sent_bytes_total", counter, "Bytes to the network.", "total_net_output_bytes"),
		field(prefix+"uptime_seconds", gauge, "How long the server has been running, in seconds.", "uptime_in_seconds"),
	}
}

func field(name, kind, help, of string) metric {
	return metric{name, kind, help, func(s status) (float64, bool) { return s.info.number(of) }}
}

func bit(is func(status) bool) func(status) (float64, bool) {
	return func(s status) (float64, bool) {
		if is(s) {
			return 1, true
		}
		return 0, true
	}
}

// known returns the value of a boolean metric, which has no value while the server does not answer.
func known(is func(status) bool) func(status) (float64, bool) {
	return func(s status) (float64, bool) {
		value, _ := bit(is)(s)
		return value, s.err == nil
	}
}

// writeMetrics writes all metrics in the text format of Prometheus.
func (v view) writeMetrics(w io.Writer) {
	places := []struct {
		name string
		status
	}{{"home", v.home}, {"guest", v.guest}}
	for _, m := range metrics() {
		describe(w, m.name, m.kind, m.help)
		for _, place := range places {
			if value, known := m.value(place.status); known {
				fmt.Fprintf(w, "%s{place=%q} %s\n", m.name, place.name, decimal(value))
			}
		}
	}
	describe(w, lagMetric, gauge, "How far a replica is behind its primary, as the primary reports it, in bytes.")
	for _, place := range places {
		lags := place.lags()
		for _, replica := range slices.Sorted(maps.Keys(lags)) {
			fmt.Fprintf(w, "%s{place=%q,replica=%q} %s\n", lagMetric, place.name, replica, decimal(lags[replica]))
		}
	}
}

func describe(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func decimal(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
