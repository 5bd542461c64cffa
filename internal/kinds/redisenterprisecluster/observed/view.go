// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"fmt"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// busOffset is the difference between a server's cluster bus port and its client port (cluster.h, CLUSTER_PORT_INCR).
const busOffset = 10000

// Servers returns the servers of the pods, with what the prober read from each of them (view).
func (p Pods) Servers(view redis.View) Servers {
	var out Servers
	for i, name := range p.Names {
		for _, place := range []redisv1alpha1.Place{redisv1alpha1.Home, redisv1alpha1.Guest} {
			s := Server{Pod: name, Place: place}
			if pod := p.ByOrdinal[i]; pod != nil && pod.Status.PodIP != "" {
				s.fill(address(pod, place), view)
			}
			out = append(out, s)
		}
	}
	return out
}

func (s *Server) fill(address string, view redis.View) {
	status := view.Nodes[address]
	s.Address, s.Loading, s.Err = address, status.Loading, status.Err
	if s.Answers = status.Answers(); !s.Answers {
		return
	}
	s.Run, s.Version = status.RunID, status.Version
	s.Slots, s.InSync, s.Down = status.Slots, status.LinkUp, whyDown(status)
	s.Role, s.Shard = redisv1alpha1.Primary, status.ID
	if status.Role == redis.Replica {
		s.Role, s.Shard = redisv1alpha1.Replica, status.PrimaryID
	}
}

// whyDown returns why a server considers the cluster down; "" if it does not. If the server reaches enough primaries,
// it has just started or has just regained contact, and will soon accept clients.
func whyDown(status redis.NodeStatus) string {
	switch of, all := status.ReachablePrimaries(); {
	case status.ClusterOK:
		return ""
	case of > all/2:
		return "and will consider it up again in a moment"
	default:
		return fmt.Sprintf("because it reaches only %d of %d primaries; check that no NetworkPolicy blocks the cluster bus (ports %d and %d)",
			of, all, redisv1alpha1.HomePort+busOffset, redisv1alpha1.GuestPort+busOffset)
	}
}
