// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// Status reads the status of one server. While the server loads its data, it only answers INFO.
func (r *remote) Status(ctx context.Context, address string) (NodeStatus, error) {
	answers, err := r.Do(ctx, address, Command{"INFO"})
	if err != nil {
		return NodeStatus{Err: err}, err
	}
	status := parseInfo(Text(answers[0]))
	if status.Loading {
		return status, nil
	}
	questions := []Command{ClusterCommand("INFO"), ClusterCommand("NODES"), {"ACL", "DRYRUN", r.Credentials().User, "PSYNC", "?", -1}}
	if status.Version.HasJobs() {
		questions = append(questions, jobsQuestion(status.Version))
	}
	follows := status.LinkUp && !elections.Free(status.Version.Number, status.Version.Valkey)
	if follows {
		questions = append(questions, Command{"CLIENT", "LIST", "TYPE", "master"})
	}
	answers, err = r.Do(ctx, address, questions...)
	if Refused(err, "LOADING") { // the server has started to load its data since it answered INFO
		status.Loading = true
		return status, nil
	}
	if err != nil {
		return NodeStatus{Err: err}, err
	}
	status.NotAdmitted = Text(answers[2]) != "OK"
	if err := errors.Join(status.join(Text(answers[0]), Text(answers[1])), status.joinJobs(answers[3:])); err != nil {
		err = fmt.Errorf("%s: %w", address, err)
		return NodeStatus{Err: err}, err
	}
	if follows {
		status.Past.Following = elections.Following(Text(answers[len(answers)-1]))
	}
	return status, nil
}

// parseInfo parses what INFO reports about the server itself.
func parseInfo(text string) NodeStatus {
	info := Fields(text)
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(info[key], 10, 64) // some versions lack some fields
		return n
	}
	status := NodeStatus{
		RunID: word(info["run_id"]), Version: Version{Number: word(info["redis_version"])},
		Loading: number("loading") == 1, LinkUp: info["master_link_status"] == "up",
		Offset:     number("master_repl_offset"),
		UsedMemory: number("used_memory"), Dataset: number("used_memory_dataset"), MaxMemory: number("maxmemory"),
		Evicts:    strings.HasPrefix(info["maxmemory_policy"], "allkeys-"),
		LogFails:  info["aof_last_write_status"] == "err",
		Keys:      keys(info["db0"]),
		Redirects: redirects(info),
	}
	if own, isValkey := info["valkey_version"]; isValkey {
		status.Version = Version{Number: word(own), Valkey: true}
	}
	if info["role"] == "slave" {
		status.Past = elections.Past{Led: number("second_repl_offset") > 0, Uptime: elections.Seconds(number("uptime_in_seconds"))}
		status.Offset = number("slave_repl_offset")
		status.Source = net.JoinHostPort(word(info["master_host"]), word(info["master_port"]))
		status.Unlinked = !status.LinkUp && info["master_link_down_since_seconds"] == "-1"
	}
	return status
}

// keys parses the number of keys in text such as keys=3,expires=0,avg_ttl=0.
func keys(db string) int64 {
	for field := range strings.SplitSeq(db, ",") {
		if n, ok := strings.CutPrefix(field, "keys="); ok {
			count, _ := strconv.ParseInt(n, 10, 64) // a missing number counts as 0
			return count
		}
	}
	return 0
}

// joinJobs adds the slot migration jobs if the server is a primary. A replica reports its primary's jobs too, but its
// report may be outdated.
func (s *NodeStatus) joinJobs(answers []any) error {
	if !s.Version.HasJobs() || s.Role != Primary {
		return nil
	}
	read := ParseJobs
	if !s.Version.Valkey {
		read = ParseTasks
	}
	jobs, err := read(answers[0])
	s.Jobs = underWay(jobs)
	return err
}

// jobsQuestion returns the command that lists the slot migration jobs of a server.
func jobsQuestion(v Version) Command {
	if v.Valkey {
		return ClusterCommand("GETSLOTMIGRATIONS")
	}
	return ClusterCommand("MIGRATION", "STATUS", "ALL")
}

// join adds what the server reports about its cluster.
func (s *NodeStatus) join(info, nodes string) error {
	values := Fields(info)
	s.ClusterOK = values["cluster_state"] == "ok"
	s.CurrentEpoch, _ = strconv.ParseUint(values["cluster_current_epoch"], 10, 64) // some versions do not report it
	table, err := parseNodes(nodes)
	if err != nil {
		return err
	}
	s.Known, s.Migrating, s.Importing = table.peers, table.migrating, table.importing
	for _, peer := range s.Known {
		if peer.Myself {
			s.ID, s.Role, s.PrimaryID = peer.ID, peer.Role, peer.PrimaryID
			s.Slots, s.ConfigEpoch = peer.Slots, peer.ConfigEpoch
			// A replica that does not know its primary's address yet has had no connection to that primary. Until it
			// knows the address, INFO reports it as a primary.
			s.Unlinked = s.Unlinked || s.Role == Replica && s.Source == ""
			return nil
		}
	}
	return fmt.Errorf("CLUSTER NODES has no line for the server itself")
}

// redirects returns how often a server answered with MOVED; negative if it stopped counting. After too many kinds of
// errors, a server reports a kind that begins with ERRORSTATS_ instead (server.c, incrementErrorCount).
func redirects(info map[string]string) int64 {
	for key := range info {
		if strings.HasPrefix(key, "errorstat_ERRORSTATS_") {
			return -1
		}
	}
	count, known := strings.CutPrefix(info["errorstat_MOVED"], "count=")
	if !known {
		return 0
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
