// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report sets the status of a Redis cluster: its conditions, the vendor's state field, and the progress of a
// slot move. It makes no decisions, and never parses an earlier message.
package report

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Ring holds what is known about the servers, and what opcrew has decided to do with them. The conditions about servers
// are derived from it.
type Ring struct {
	Decision decide.Decision
	Servers  observed.Servers
	View     redis.View
	// Seen is true once the prober has read the servers. View is valid only then.
	Seen bool
	// AnyRuns is true if the kubelet has reported any pod whose two servers both run.
	AnyRuns bool
}

// unserved returns the slots that none of the answering servers owns.
func (in Ring) unserved() redis.Slots { return ring.Unserved(in.View, in.Decision.Ring) }

// refusing returns the slots of servers that answer but consider the cluster down and refuse clients. No other server
// may take over these slots.
func (in Ring) refusing() redis.Slots { return ring.Refused(in.View, in.Decision.Ring) }

// IsOld reports whether the servers have not been read yet, or have not been read since the last step.
func (in Ring) IsOld() bool { return !in.Seen || in.View.Stale }

// firstSilent returns why the first server that does not answer is silent, as a clause that is appended to a message;
// "" if no reason is known.
func firstSilent(all observed.Servers) string {
	for _, s := range all {
		switch {
		case s.Answers:
		case s.Loading:
			return fmt.Sprintf("; the %s is loading its data", s)
		case s.Err != nil:
			return fmt.Sprintf("; the %s does not answer: %v", s, s.Err)
		}
	}
	return ""
}
