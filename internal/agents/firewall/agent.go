// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
)

const (
	// checkTime is the time between two readings of the kernel's table, which another process may remove.
	checkTime = 15 * time.Second
	// measureTime is the time between two measurements of the contact during a trial.
	measureTime = 2 * time.Second
	// retryTime is how long the agent waits after a write that failed.
	retryTime = 10 * time.Second
)

// Kernel writes the table of the node, and reads it back.
type Kernel interface {
	Apply(ruleset.Table) error
	Active(ruleset.Table) (bool, error)
	Remove() error
	Exists() (bool, error)
	Others() ([]string, error)
	// Tracks reports whether the kernel tracks connections.
	Tracks() (bool, error)
}

// Cluster is what the agent needs of the API server.
type Cluster interface {
	// Documents returns the rules of pools and the addresses of nodes; false until they have been read.
	Documents() (pools map[string]string, nodes string, known bool)
	// Reaches reports whether the API server answers on a new connection.
	Reaches(ctx context.Context) bool
	// Report writes the report on the Node; an empty one removes it.
	Report(ctx context.Context, text string) error
}

// Agent keeps the table of one node.
type Agent struct {
	Node    string
	Kernel  Kernel
	Cluster Cluster
	Store   *Store
	Clock   clock.WithTicker
	Log     *slog.Logger

	state  State
	loaded bool
	// silent is when the node had contact last, or when the trial began.
	silent time.Time
	// reverted is when a trial ended without contact; zero when its reason is known.
	reverted time.Time
	again    time.Time // when rules whose trial failed may be tried again
	learned  time.Time // when the kernel knows the connections that were there before it tracked them
	problem  string
	sent     report
}

// report is what the agent wrote last.
type report struct {
	text string
	at   time.Time
}
