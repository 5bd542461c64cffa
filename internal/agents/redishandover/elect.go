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

// ask has the first replica that is in sync, and would be elected, take the lead, and reports whether there was one.
func (h *handover) ask(ctx context.Context, self clusternodes.Node, nodes, heirs []clusternodes.Node) bool {
	h.lookUp(ctx)
	h.strange, h.tired = true, false
	for _, heir := range heirs {
		err := h.askOne(ctx, self, nodes, heir)
		h.strange = h.strange && errors.Is(err, errStrange)
		h.tired = h.tired || errors.Is(err, errTired)
		if err == nil {
			h.log.Info("Handing over", "replica", heir.Address)
			return true
		}
		if h.told != err.Error() {
			h.told = err.Error()
			h.log.Info("A replica does not take the lead", "replica", heir.Address, "reason", err.Error())
		}
	}
	return false
}

func (h *handover) askOne(ctx context.Context, self clusternodes.Node, nodes []clusternodes.Node, heir clusternodes.Node) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	replica, err := h.dial(ctx, heir.Address)
	if err != nil {
		return err
	}
	defer replica.Close()
	info, err := replica.Do(ctx, "INFO")
	if err != nil {
		return err
	}
	if field(info, "master_link_status") != "up" {
		return errors.New("it is not in sync")
	}
	if err := h.rested(ctx, replica, info); err != nil {
		return err
	}
	if err := h.electable(ctx, replica, self, nodes, heir); err != nil {
		return err
	}
	_, err = replica.Do(ctx, "CLUSTER", "FAILOVER")
	return err
}

// errTired reports that a replica may have been elected a moment ago, and cannot be again so soon: see elections.Pause.
var errTired = errors.New("it may have led a moment ago, and servers let none be elected again so soon")

// rested fails with errTired where that is so of a replica, by what it tells in INFO and of its primary as a client.
func (h *handover) rested(ctx context.Context, replica *resp.Conn, info string) error {
	version, valkey := field(info, "redis_version"), field(info, "valkey_version")
	if elections.Free(cmp.Or(valkey, version), valkey != "") {
		return nil
	}
	list, err := replica.Do(ctx, "CLIENT", "LIST", "TYPE", "master")
	if err != nil {
		return err
	}
	led, _ := strconv.ParseInt(field(info, "second_repl_offset"), 10, 64) // -1: never
	uptime, _ := strconv.Atoi(field(info, "uptime_in_seconds"))
	past := elections.Past{Led: led > 0, Uptime: time.Duration(uptime) * time.Second, Following: elections.Following(list)}
	if past.Recent(h.attempt) {
		return errTired
	}
	return nil
}

// electable fails unless most primaries, and this one, would vote for the heir. Where they do not, clients wait in
// vain until the attempt is given up.
func (h *handover) electable(ctx context.Context, replica *resp.Conn, self clusternodes.Node, nodes []clusternodes.Node, heir clusternodes.Node) error {
	known, err := h.nodes(ctx, replica)
	if err != nil {
		return err
	}
	epoch, err := currentEpoch(ctx, replica)
	if err != nil {
		return err
	}
	if h.epoch > epoch || !linked(known, self.ID) {
		return errors.New("it is not connected with this server, or behind it in the count of elections")
	}
	voters := slices.DeleteFunc(slices.Clone(nodes), func(n clusternodes.Node) bool { return !n.Is("master") || n.SlotCount() == 0 })
	votes := h.votes(ctx, voters, func(ctx context.Context, n clusternodes.Node) bool {
		return linked(known, n.ID) && (n.ID == self.ID || h.hasHeard(ctx, n.Address, self, heir, epoch))
	})
	if all := len(voters); votes <= all/2 {
		return fmt.Errorf("%d of %d primaries have heard whose replica it is, and are connected with it", votes, all)
	}
	return nil
}

// votes asks all at a time, and for no longer than leaves time for what comes of it: one that hangs is no vote, and holds up
// no other.
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

// linked reports whether a server is connected with another, which is no newcomer to it. What comes from one that it
// does not know is dropped without a word (cluster.c, clusterProcessPacket).
func linked(nodes []clusternodes.Node, id string) bool {
	return slices.ContainsFunc(nodes, func(n clusternodes.Node) bool { return n.ID == id && n.Linked && !n.Is("handshake") })
}

// hasHeard reports whether a voter knows the heir as a replica of this server, and is not further than it in the count of
// elections (clusterSendFailoverAuthIfNeeded).
func (h *handover) hasHeard(ctx context.Context, voter string, self, heir clusternodes.Node, epoch uint64) bool {
	conn, err := h.dial(ctx, voter)
	if err != nil {
		return false
	}
	defer conn.Close()
	theirs, err := currentEpoch(ctx, conn)
	if err != nil || theirs > epoch {
		return false
	}
	nodes, err := h.nodes(ctx, conn)
	follows := func(n clusternodes.Node) bool { return n.ID == heir.ID && n.Primary == self.ID }
	return err == nil && linked(nodes, heir.ID) && slices.ContainsFunc(nodes, follows)
}

// currentEpoch is how far a server is in the count of elections.
func currentEpoch(ctx context.Context, conn *resp.Conn) (uint64, error) {
	info, err := conn.Do(ctx, "CLUSTER", "INFO")
	if err != nil {
		return 0, err
	}
	epoch, err := strconv.ParseUint(field(info, "cluster_current_epoch"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("its current epoch: %w", err)
	}
	return epoch, nil
}

// field is what INFO tells by a name; "" if nothing.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), name+":"); is {
			return value
		}
	}
	return ""
}

// usualNodeTimeout is what servers have that are told nothing else.
const usualNodeTimeout = 5 * time.Second

// nodeTimeout is the server's own: users may have set another.
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

// attemptTime is for how long a replica that was asked is not asked again.
func attemptTime(nodeTimeout time.Duration) time.Duration {
	return elections.Pause(nodeTimeout) + 500*time.Millisecond
}
