// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// failOver starts a failover to the first replica that is in sync and can win an election. It reports whether there is
// such a replica.
func (h *handover) failOver(ctx context.Context, self clusternodes.Node, nodes, candidates []clusternodes.Node) bool {
	h.lookUp(ctx)
	h.unknown, h.tooSoon = true, false
	for _, candidate := range candidates {
		err := h.failOverTo(ctx, self, nodes, candidate)
		h.unknown = h.unknown && errors.Is(err, errUnknown)
		h.tooSoon = h.tooSoon || errors.Is(err, errTooSoon)
		if err == nil {
			h.log.Info("Handing over", "replica", candidate.Address)
			return true
		}
		if h.lastReason != err.Error() {
			h.lastReason = err.Error()
			h.log.Info("This replica cannot take over", "replica", candidate.Address, "reason", err.Error())
		}
	}
	return false
}

func (h *handover) failOverTo(ctx context.Context, self clusternodes.Node, nodes []clusternodes.Node, candidate clusternodes.Node) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	replica, err := h.dial(ctx, candidate.Address)
	if err != nil {
		return err
	}
	defer replica.Close()
	info, err := replica.Do(ctx, "INFO")
	if err != nil {
		return err
	}
	if field(info, "master_link_status") != "up" {
		return errors.New("the replica is not in sync")
	}
	if err := h.pauseOver(ctx, replica, info); err != nil {
		return err
	}
	if err := h.electable(ctx, replica, self, nodes, candidate); err != nil {
		return err
	}
	_, err = replica.Do(ctx, "CLUSTER", "FAILOVER")
	return err
}

// errTooSoon means that a replica may have been elected very recently, so that it cannot be elected again yet; see
// elections.Pause.
var errTooSoon = errors.New("the replica may have been the primary a moment ago, and the servers do not elect it again so soon")

// pauseOver returns errTooSoon if the replica's INFO and the connection of its primary show a recent election.
func (h *handover) pauseOver(ctx context.Context, replica *resp.Conn, info string) error {
	version, valkey := field(info, "redis_version"), field(info, "valkey_version")
	if elections.Free(cmp.Or(valkey, version), valkey != "") {
		return nil
	}
	list, err := replica.Do(ctx, "CLIENT", "LIST", "TYPE", "master")
	if err != nil {
		return err
	}
	led, _ := strconv.ParseInt(field(info, "second_repl_offset"), 10, 64) // -1 means that the server was never elected
	uptime, _ := strconv.Atoi(field(info, "uptime_in_seconds"))
	past := elections.Past{Led: led > 0, Uptime: time.Duration(uptime) * time.Second, Following: elections.Following(list)}
	if past.Recent(h.attempt) {
		return errTooSoon
	}
	return nil
}

// electable returns an error if the candidate cannot win an election: this server and most primaries must be able to
// vote for it. Otherwise clients would wait until the servers give up the failover.
func (h *handover) electable(ctx context.Context, replica *resp.Conn, self clusternodes.Node, nodes []clusternodes.Node, candidate clusternodes.Node) error {
	known, err := h.nodes(ctx, replica)
	if err != nil {
		return err
	}
	epoch, err := currentEpoch(ctx, replica)
	if err != nil {
		return err
	}
	if h.epoch > epoch || !linked(known, self.ID) {
		return errors.New("the replica is not connected to this server, or its epoch is older")
	}
	voters := slices.DeleteFunc(slices.Clone(nodes), func(n clusternodes.Node) bool { return !n.Is("master") || n.SlotCount() == 0 })
	votes := h.votes(ctx, voters, func(ctx context.Context, n clusternodes.Node) bool {
		return linked(known, n.ID) && (n.ID == self.ID || h.knowsCandidate(ctx, n.Address, self, candidate, epoch))
	})
	if all := len(voters); votes <= all/2 {
		return fmt.Errorf("only %d of %d primaries are connected to the replica and know its primary", votes, all)
	}
	return nil
}

// votes queries all voters concurrently and returns the number of votes. It leaves enough time for the failover itself.
// A voter that hangs counts as not voting.
func (h *handover) votes(ctx context.Context, voters []clusternodes.Node, would func(context.Context, clusternodes.Node) bool) int {
	ctx, cancel := context.WithTimeout(ctx, answerTime/2)
	defer cancel()
	answers := make([]bool, len(voters))
	var asking sync.WaitGroup
	for i, voter := range voters {
		asking.Go(func() { answers[i] = would(ctx, voter) })
	}
	asking.Wait()
	return len(slices.DeleteFunc(answers, func(votes bool) bool { return !votes }))
}

// linked reports whether a server knows a node and is connected to it. Servers drop messages of unknown nodes
// (cluster.c, clusterProcessPacket).
func linked(nodes []clusternodes.Node, id string) bool {
	return slices.ContainsFunc(nodes, func(n clusternodes.Node) bool { return n.ID == id && n.Linked && !n.Is("handshake") })
}

// knowsCandidate reports whether a voter knows the candidate as a replica of this server, and has no newer epoch. These
// are the conditions for its vote (clusterSendFailoverAuthIfNeeded).
func (h *handover) knowsCandidate(ctx context.Context, voter string, self, candidate clusternodes.Node, epoch uint64) bool {
	conn, err := h.dial(ctx, voter)
	if err != nil {
		return false
	}
	defer conn.Close()
	voterEpoch, err := currentEpoch(ctx, conn)
	if err != nil || voterEpoch > epoch {
		return false
	}
	nodes, err := h.nodes(ctx, conn)
	follows := func(n clusternodes.Node) bool { return n.ID == candidate.ID && n.Primary == self.ID }
	return err == nil && linked(nodes, candidate.ID) && slices.ContainsFunc(nodes, follows)
}

// currentEpoch returns the current cluster epoch of a server.
func currentEpoch(ctx context.Context, conn *resp.Conn) (uint64, error) {
	info, err := conn.Do(ctx, "CLUSTER", "INFO")
	if err != nil {
		return 0, err
	}
	epoch, err := strconv.ParseUint(field(info, "cluster_current_epoch"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the current epoch of the server: %w", err)
	}
	return epoch, nil
}

// field returns the value of a field of INFO; "" if there is none.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), name+":"); is {
			return value
		}
	}
	return ""
}

// usualNodeTimeout is the cluster-node-timeout that opcrew sets by default.
const usualNodeTimeout = 5 * time.Second

// nodeTimeout returns the cluster-node-timeout of the server, which users may have changed.
func (h *handover) nodeTimeout(ctx context.Context) time.Duration {
	words, err := h.own.List(ctx, "CONFIG", "GET", "cluster-node-timeout")
	if err != nil || len(words) < 2 {
		return usualNodeTimeout
	}
	ms, err := strconv.Atoi(words[1])
	if err != nil {
		return usualNodeTimeout
	}
	return time.Duration(ms) * time.Millisecond
}

// attemptTime returns how long to wait before a failover to the same replica is requested again.
func attemptTime(nodeTimeout time.Duration) time.Duration {
	return elections.Pause(nodeTimeout) + 500*time.Millisecond
}
