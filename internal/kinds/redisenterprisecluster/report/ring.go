// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report fills the status of a Redis cluster: its conditions, the vendor's state, and the progress of a move of slots.
//
// It decides nothing about the cluster, and never reads the text of an earlier message.
package report

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Ring is what the conditions about the servers depend on.
type Ring struct {
	Decision decide.Decision
	Servers  observed.Servers
	View     redis.View
	// Seen reports that there is a view.
	Seen bool
	// AnyRuns reports whether, by the kubelets' reports, a server runs.
	AnyRuns bool
}

// unserved are the slots that no answering server has.
func (in Ring) unserved() redis.Slots { return ring.Unserved(in.View, in.Decision.Ring) }

// refusing are the slots of servers that consider the cluster down and refuse clients. No other server may take them over.
func (in Ring) refusing() redis.Slots { return ring.Refused(in.View, in.Decision.Ring) }

// IsOld reports whether the servers have yet to be read, or to be read again after a step.
func (in Ring) IsOld() bool { return !in.Seen || in.View.Stale }

// firstSilent is why the first server does not answer, as the end of a sentence.
func firstSilent(all observed.Servers) string {
	for _, s := range all {
		switch {
		case s.Answers:
		case s.Loading:
			return fmt.Sprintf("; %s loads its data", s)
		case s.Err != nil:
			return fmt.Sprintf("; %s: %v", s, s.Err)
		}
	}
	return ""
}
