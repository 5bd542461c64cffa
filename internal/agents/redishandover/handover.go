// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"context"
	"log/slog"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

const (
	// pause is how long to wait between two reads of the state. A handover takes some hundred milliseconds at most,
	// because the replica requests votes at once.
	pause = 50 * time.Millisecond
	// longPause is used instead while a DNS name must change, or the last election is too recent.
	longPause = 500 * time.Millisecond
	// lingering is how long a server without slots continues to answer, as it may have lost its slots a moment ago. It
	// redirects clients with an old slot map, which may need several redirects. Some would otherwise keep the old map for
	// 10 seconds (go-redis, clusterStateHolder).
	lingering = 3 * time.Second
	// answerTime limits the answers of a replica, whose pod may be gone.
	answerTime = time.Second
	// unknownTime is how long a replica may have an address of no pod. DNS lags behind when pods are recreated, as it may
	// be cached for 5 seconds (CoreDNS, plugin kubernetes, ttl).
	unknownTime = 7 * time.Second
)

// handover gives away the slots of the server in this pod.
type handover struct {
	password string
	service  string
	address  string   // address of the server
	pods     []string // addresses of the pods
	own      *resp.Conn
	attempt  time.Duration // how long to wait for one attempt
	epoch    uint64        // current epoch of the server
	log      *slog.Logger

	lastReason string // the last logged reason why a replica cannot take over
	unknown    bool   // whether all candidates have addresses of no pod
	tooSoon    bool   // whether a candidate cannot be elected again yet

	waitUntil time.Time     // until when to wait for the operator to finish moves
	moveTime  time.Duration // limit for moving the remaining slots; the rest of the time is for the handover
	logged    string        // the moves that were logged
	moved     bool          // whether the remaining slots were moved, as far as possible
}

// nodes reads the node table of a server.
func (h *handover) nodes(ctx context.Context, of *resp.Conn) ([]clusternodes.Node, error) {
	text, err := of.Do(ctx, "CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	return clusternodes.Parse(text)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
