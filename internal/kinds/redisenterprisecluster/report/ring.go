// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report sets the status of a Redis cluster: its conditions, the vendor's state, and the progress of a slot
// move. It decides nothing about the cluster, and never parses an earlier message.
package report

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Ring holds what the conditions about the servers depend on.
type Ring struct {
	Decision decide.Decision
	Servers  observed.Servers
	View     redis.View
	// Seen is true if there is a view.
	Seen bool
	// AnyRuns is true if, by the kubelets' reports, both servers of any pod run.
	AnyRuns bool
}

// unserved returns the slots that no answering server has.
func (in Ring) unserved() redis.Slots { return ring.Unserved(in.View, in.Decision.Ring) }

// refusing returns the slots of servers that consider the cluster down and refuse clients. No other server may take
// them over.
func (in Ring) refusing() redis.Slots { return ring.Refused(in.View, in.Decision.Ring) }

// IsOld reports whether the servers have not been read yet, or not since the last step.
func (in Ring) IsOld() bool { return !in.Seen || in.View.Stale }

// firstSilent returns why the first silent server does not answer, as a clause to append to a message; "" if no reason
// is known.
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
