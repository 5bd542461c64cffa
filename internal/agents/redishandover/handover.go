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
	// pause is how long to wait between two reads of the state. A handover takes a few hundred milliseconds, because
	// the replica requests votes at once.
	pause = 50 * time.Millisecond
	// longPause is used instead of pause while the hook waits for DNS to list a pod, or until a replica can be elected
	// again.
	longPause = 500 * time.Millisecond
	// lingering is how long a server without slots keeps responding, as it may have just handed them over. It redirects
	// clients that still have the old slot map. Otherwise some clients would keep that map for 10 seconds (go-redis,
	// clusterStateHolder).
	lingering = 3 * time.Second
	// answerTime is how long to wait for the response of a replica. A replica whose pod is gone does not respond.
	answerTime = time.Second
	// unknownTime is how long to wait for DNS to list the pod of a replica whose address belongs to no known pod.
	unknownTime = 7 * time.Second
)

// handover hands over the slots of the server in this pod.
type handover struct {
	password string
	service  string
	address  string   // address of the server in this pod
	pods     []string // IP addresses of the cluster's pods
	own      *resp.Conn
	attempt  time.Duration // how long to wait for one failover attempt
	epoch    uint64        // current cluster epoch of the server
	log      *slog.Logger

	lastReason string // the last logged reason why a replica cannot take over
	unknown    bool   // whether all candidates have addresses that belong to no pod
	tooSoon    bool   // whether a candidate cannot be elected again yet

	waitUntil time.Time     // time until which the operator may finish slot moves
	moveTime  time.Duration // time limit for moving the remaining slots, which leaves time for the handover
	logged    string        // description of the slot moves that was logged last
	moved     bool          // whether this hook has already tried to move the slots
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
