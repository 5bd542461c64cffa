// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// waitForMoves waits until no slots are being moved from or to the server. After waitUntil it moves the remaining slots
// itself.
func (h *handover) waitForMoves(ctx context.Context) error {
	for time.Now().Before(h.waitUntil) {
		moves, err := h.moves(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("read the state of the server: %w", err)
		case moves == "":
			return nil
		case h.logged == "":
			h.logged = moves
			h.log.Info("The handover waits for slots that are moving", "moves", moves)
		}
		if err := sleep(ctx, pause); err != nil {
			return fmt.Errorf("slots are still moving: %s: %w", moves, err)
		}
	}
	if !h.moved {
		h.moved = true
		h.finish(ctx, h.moveTime)
	}
	return nil
}

// moves describes the slots that are being moved from or to the server. It returns "" if there are none, or if the
// server is a replica.
func (h *handover) moves(ctx context.Context) (string, error) {
	nodes, err := h.nodes(ctx, h.own)
	if err != nil {
		return "", err
	}
	self, _ := clusternodes.Myself(nodes)
	if self.Primary != "" {
		return "", nil
	}
	if from, to := len(self.Migrating), len(self.Importing); from+to > 0 {
		return fmt.Sprintf("%d slots are moving from this server, and %d slots to it", from, to), nil
	}
	return h.jobs(ctx)
}

// jobs describes a job with which the servers themselves move slots, as Valkey does since 9.0; "" if there is none.
func (h *handover) jobs(ctx context.Context) (string, error) {
	words, err := h.own.List(ctx, "CLUSTER", "GETSLOTMIGRATIONS")
	if _, refused := errors.AsType[resp.Error](err); refused {
		return "", nil // this version of the server has no slot migration jobs
	}
	for i := 0; i+1 < len(words); i += 2 { // names and values alternate in the response
		if words[i] == "state" && !ended(words[i+1]) {
			return "a slot migration job is in state " + words[i+1], nil
		}
	}
	return "", err
}

func ended(state string) bool { return state == "success" || state == "failed" || state == "cancelled" }
