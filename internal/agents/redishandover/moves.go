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

// waitForMoves waits until no slots are on their way to or from the server, for as long as that is waited for. Then it
// ends what can be ended.
func (h *handover) waitForMoves(ctx context.Context) error {
	for time.Now().Before(h.patient) {
		moves, err := h.moves(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("ask the server itself: %w", err)
		case moves == "":
			return nil
		case h.moving == "":
			h.moving = moves
			h.log.Info("Waiting for slots that are on their way", "moves", moves)
		}
		if err := sleep(ctx, pause); err != nil {
			return fmt.Errorf("%s are on their way yet: %w", moves, err)
		}
	}
	if !h.finished {
		h.finished = true
		h.finish(ctx, h.closing)
	}
	return nil
}

// moves reports slots that are on their way to or from the server; "" if there are none, or if it follows another.
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
		return fmt.Sprintf("%d slots that go and %d that come", from, to), nil
	}
	return h.jobs(ctx)
}

// jobs reports those by which servers move slots themselves (Valkey since 9.0).
func (h *handover) jobs(ctx context.Context) (string, error) {
	words, err := h.own.List(ctx, "CLUSTER", "GETSLOTMIGRATIONS")
	if _, refused := errors.AsType[resp.Error](err); refused {
		return "", nil // it has none
	}
	for i := 0; i+1 < len(words); i += 2 { // names and values
		if words[i] == "state" && !ended(words[i+1]) {
			return "a job that is at " + words[i+1], nil
		}
	}
	return "", err
}

func ended(state string) bool { return state == "success" || state == "failed" || state == "cancelled" }
