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

// metric is a number about a server. It has no value if the server does not report the number.
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
		{prefix + "up", gauge, "1 if the server responds to the agent, 0 if not.", bit(func(s status) bool { return s.err == nil })},
		{prefix + "loading", gauge, "1 if the server is loading its data, 0 if not.", bit(status.loading)},
		{prefix + "primary", gauge, "1 if the server is a primary, 0 if it is a replica.", known(status.primary)},
		{prefix + "link_up", gauge, "1 if the replica is connected to its primary, 0 if not.", func(s status) (float64, bool) {
			value, _ := known(status.linkUp)(s)
			return value, s.err == nil && !s.primary()
		}},
		{prefix + "cluster_ok", gauge, "1 if the server reports cluster_state ok, 0 if not.", known(status.ok)},
		{prefix + "slots", gauge, "Number of slots that the server owns.", func(s status) (float64, bool) { return float64(s.slots()), s.nodes != nil }},
		{keysMetric, gauge, "Number of keys in the server.", func(s status) (float64, bool) { return s.keys(), s.err == nil }},
		field(memoryMetric, gauge, "Memory in bytes that counts towards the memory limit of the server (used_memory).", "used_memory"),
		field(maxMetric, gauge, "Memory limit of the server in bytes (maxmemory); 0 means no limit.", "maxmemory"),
		field(prefix+"memory_resident_bytes", gauge, "Resident memory of the server process in bytes.", "used_memory_rss"),
		field(prefix+"clients", gauge, "Number of client connections.", "connected_clients"),
		field(prefix+"replicas", gauge, "Number of connected replicas.", "connected_slaves"),
		field(prefix+"commands_total", counter, "Number of commands that the server has processed.", "total_commands_processed"),
		field(prefix+"keyspace_hits_total", counter, "Number of reads that found their key.", "keyspace_hits"),
		field(prefix+"keyspace_misses_total", counter, "Number of reads that did not find their key.", "keyspace_misses"),
		field(prefix+"expired_keys_total", counter, "Number of keys that were deleted because they expired.", "expired_keys"),
		field(prefix+"evicted_keys_total", counter, "Number of keys that were evicted to free memory.", "evicted_keys"),
		field(prefix+"received_bytes_total", counter, "Number of bytes that the server received from the network.", "total_net_input_bytes"),
		field(prefix+"sent_bytes_total", counter, "Number of bytes that the server sent to the network.", "total_net_output_bytes"),
		field(prefix+"uptime_seconds", gauge, "Time in seconds since the start of the server.", "uptime_in_seconds"),
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

// known returns the value function of a boolean metric. While the server does not respond, the metric has no value.
func known(is func(status) bool) func(status) (float64, bool) {
	return func(s status) (float64, bool) {
		value, _ := bit(is)(s)
		return value, s.err == nil
	}
}

// writeMetrics writes all metrics in the Prometheus text format.
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
	describe(w, lagMetric, gauge, "Replication lag of a replica in bytes, as its primary reports it.")
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
