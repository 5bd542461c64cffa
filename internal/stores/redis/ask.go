// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// Status asks one process. While it loads its data it answers INFO alone.
func (r *remote) Status(ctx context.Context, address string) (NodeStatus, error) {
	answers, err := r.Do(ctx, address, Command{"INFO"})
	if err != nil {
		return NodeStatus{Err: err}, err
	}
	status := parseInfo(text(answers[0]))
	if status.Loading {
		return status, nil
	}
	questions := []Command{clusterCommand("INFO"), clusterCommand("NODES"), {"ACL", "DRYRUN", r.Credentials().User, "PSYNC", "?", -1}}
	if status.Version.HasJobs() {
		questions = append(questions, jobsQuestion(status.Version))
	}
	tells := status.LinkUp && !elections.Free(status.Version.Number, status.Version.Valkey)
	if tells {
		questions = append(questions, Command{"CLIENT", "LIST", "TYPE", "master"})
	}
	answers, err = r.Do(ctx, address, questions...)
	if refused(err, "LOADING") { // since
		status.Loading = true
		return status, nil
	}
	if err != nil {
		return NodeStatus{Err: err}, err
	}
	status.Barred = text(answers[2]) != "OK"
	if err := errors.Join(status.join(text(answers[0]), text(answers[1])), status.joinJobs(answers[3:])); err != nil {
		err = fmt.Errorf("%s: %w", address, err)
		return NodeStatus{Err: err}, err
	}
	if tells {
		status.Past.Following = elections.Following(text(answers[len(answers)-1]))
	}
	return status, nil
}

func text(answer any) string {
	s, _ := answer.(string) // what is no text reads as none, and is found wanting
	return s
}

// fields reads lines of key:value.
func fields(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[key] = value
		}
	}
	return out
}

// parseInfo reads what INFO reports the process itself.
func parseInfo(text string) NodeStatus {
	info := fields(text)
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(info[key], 10, 64) // versions differ in what they tell
		return n
	}
	status := NodeStatus{
		RunID: info["run_id"], Version: Version{Number: info["redis_version"]},
		Loading: number("loading") == 1, LinkUp: info["master_link_status"] == "up",
		Offset:     number("master_repl_offset"),
		UsedMemory: number("used_memory"), Dataset: number("used_memory_dataset"), MaxMemory: number("maxmemory"),
		Evicts:    strings.HasPrefix(info["maxmemory_policy"], "allkeys-"),
		LogFails:  info["aof_last_write_status"] == "err",
		Keys:      keys(info["db0"]),
		Redirects: redirects(info),
	}
	if own, isValkey := info["valkey_version"]; isValkey {
		status.Version = Version{Number: own, Valkey: true}
	}
	if info["role"] == "slave" {
		status.Past = elections.Past{Led: number("second_repl_offset") > 0, Uptime: time.Duration(number("uptime_in_seconds")) * time.Second}
		status.Offset = number("slave_repl_offset")
		status.Source = net.JoinHostPort(info["master_host"], info["master_port"])
		status.Unlinked = !status.LinkUp && info["master_link_down_since_seconds"] == "-1"
	}
	return status
}

// keys reads keys=3,expires=0,avg_ttl=0.
func keys(db string) int64 {
	for field := range strings.SplitSeq(db, ",") {
		if n, ok := strings.CutPrefix(field, "keys="); ok {
			count, _ := strconv.ParseInt(n, 10, 64) // as above
			return count
		}
	}
	return 0
}

// joinJobs adds jobs, which are reported by who has such. Replicas tell those of their primary, as of when they last heard.
func (s *NodeStatus) joinJobs(answers []any) error {
	if !s.Version.HasJobs() || s.Role != Primary {
		return nil
	}
	read := parseJobs
	if !s.Version.Valkey {
		read = parseTasks
	}
	jobs, err := read(answers[0])
	s.Jobs = underWay(jobs)
	return err
}

// jobsQuestion asks for the jobs that a process has.
func jobsQuestion(v Version) Command {
	if v.Valkey {
		return clusterCommand("GETSLOTMIGRATIONS")
	}
	return clusterCommand("MIGRATION", "STATUS", "ALL")
}

// join adds what the process knows of its cluster.
func (s *NodeStatus) join(info, nodes string) error {
	values := fields(info)
	s.ClusterOK = values["cluster_state"] == "ok"
	s.CurrentEpoch, _ = strconv.ParseUint(values["cluster_current_epoch"], 10, 64) // only told
	table, err := parseNodes(nodes)
	if err != nil {
		return err
	}
	s.Known, s.Migrating, s.Importing = table.peers, table.migrating, table.importing
	for _, peer := range s.Known {
		if peer.Myself {
			s.ID, s.Role, s.PrimaryID = peer.ID, peer.Role, peer.PrimaryID
			s.Slots, s.ConfigEpoch = peer.Slots, peer.ConfigEpoch
			s.Unlinked = s.Unlinked || s.Role == Replica && s.Source == "" // INFO has it as a primary until it knows where its own is
			return nil
		}
	}
	return fmt.Errorf("CLUSTER NODES has no line of the process itself")
}
