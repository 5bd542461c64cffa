// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// Run hands over the slots of the server. It returns when the server has no slots left, or has no replica that could
// take them over. It fails at the timeout. In the first half of this time, Run waits for the operator to stop slot
// moves. Then Run moves the remaining slots itself, and hands over even if some moves fail.
func Run(ctx context.Context, o Options, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	patience := cmp.Or(o.patience, o.Timeout/2)
	h := handover{service: o.Service, log: log, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))}
	h.waitUntil, h.moveTime = time.Now().Add(patience), (o.Timeout-patience)/2
	if err := h.connect(ctx, o.Secrets); err != nil || h.own == nil {
		return err
	}
	defer h.own.Close()
	h.attempt = attemptTime(h.nodeTimeout(ctx))
	return h.run(ctx)
}

// run requests another failover only after the servers have given up the previous one. Until then, they would refuse
// the request.
func (h *handover) run(ctx context.Context) error {
	var first, again time.Time
	for {
		if err := h.waitForMoves(ctx); err != nil {
			return err
		}
		nodes, err := h.look(ctx)
		if err != nil {
			return fmt.Errorf("read the state of the server: %w", err)
		}
		self, _ := clusternodes.Myself(nodes)
		if self.SlotCount() == 0 {
			linger(ctx, nodes)
			return nil
		}
		candidates := candidatesFor(self, nodes)
		if len(candidates) == 0 || h.unknown && time.Since(first) > unknownTime {
			h.log.Info("No replica can take over", "slots", self.SlotCount())
			return nil
		}
		if first.IsZero() {
			first = time.Now()
		}
		if time.Now().After(again) && h.failOver(ctx, self, nodes, candidates) {
			again = time.Now().Add(h.attempt)
		}
		if err := sleep(ctx, h.pause()); err != nil {
			return fmt.Errorf("no replica has taken over the %d slots: %w", self.SlotCount(), err)
		}
	}
}

// linger keeps the server running for a short time, so that it redirects clients with an old slot map.
func linger(ctx context.Context, nodes []clusternodes.Node) {
	if len(nodes) > 1 {
		_ = sleep(ctx, lingering) // an error does not matter: ending earlier does no harm
	}
}

// look reads the node table and the current epoch of the server.
func (h *handover) look(ctx context.Context) (nodes []clusternodes.Node, err error) {
	if h.epoch, err = currentEpoch(ctx, h.own); err != nil {
		return nil, err
	}
	return h.nodes(ctx, h.own)
}

func (h *handover) pause() time.Duration {
	if h.unknown || h.tooSoon {
		return longPause
	}
	return pause
}

// candidatesFor returns the replicas of a primary that are connected to it.
func candidatesFor(self clusternodes.Node, nodes []clusternodes.Node) []clusternodes.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n clusternodes.Node) bool {
		return n.Primary != self.ID || !n.Linked || n.Is("fail") || n.Is("fail?")
	})
}
