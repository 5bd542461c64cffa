// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"net"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// status is the state that a server reports. err is set if the state could not be read.
type status struct {
	err   error
	info  info // fields of INFO
	state info // fields of CLUSTER INFO
	nodes []clusternodes.Node
}

// info maps the fields of a server's report to their values.
type info map[string]string

// parseInfo parses lines of the form FIELD:VALUE. It skips titles, which begin with #.
func parseInfo(text string) info {
	out := info{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if found && !strings.HasPrefix(name, "#") {
			out[name] = value
		}
	}
	return out
}

// number returns the value of a numeric field; false if the field is missing or not a number.
func (i info) number(field string) (float64, bool) {
	value, err := strconv.ParseFloat(i[field], 64)
	return value, err == nil
}

// fields parses the value of a field that is a list of KEY=VALUE pairs.
func (i info) fields(field string) info {
	out := info{}
	for pair := range strings.SplitSeq(i[field], ",") {
		if name, value, found := strings.Cut(pair, "="); found {
			out[name] = value
		}
	}
	return out
}

func (s status) loading() bool { return s.info["loading"] == "1" }
func (s status) primary() bool { return s.info["role"] == "master" }
func (s status) linkUp() bool  { return s.info["master_link_status"] == "up" }
func (s status) ok() bool      { return s.state["cluster_state"] == "ok" }

// slots returns how many slots the server owns.
func (s status) slots() int {
	own, _ := clusternodes.Myself(s.nodes)
	return own.SlotCount()
}

// keys returns the number of keys in all databases, because newer servers may have several databases in cluster mode.
func (s status) keys() float64 {
	sum := 0.0
	for field := range s.info {
		if rest, found := strings.CutPrefix(field, "db"); found && isNumber(rest) {
			keys, _ := s.info.fields(field).number("keys")
			sum += keys
		}
	}
	return sum
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// lags returns for each replica how many bytes it is behind its primary. The keys are the addresses of the replicas.
func (s status) lags() map[string]float64 {
	out := map[string]float64{}
	offset, _ := s.info.number("master_repl_offset")
	for field := range s.info {
		rest, found := strings.CutPrefix(field, "slave")
		if !found || !isNumber(rest) {
			continue
		}
		replica := s.info.fields(field)
		if theirs, known := replica.number("offset"); known {
			out[net.JoinHostPort(replica["ip"], replica["port"])] = max(0, offset-theirs)
		}
	}
	return out
}
