// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agent executes an order of package backup: it saves, prunes, verifies or restores. Each of these has its own
// file; catalog.go handles the objects of a path.
//
// Access to stores (store), reading etcd (snapshot) and making data directories (datadir) are packages of their own.
package agent

import (
	"context"
	"log/slog"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/backup/datadir"
	"github.com/opcrew/opcrew/internal/agents/backup/store"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Agent executes orders.
type Agent struct {
	Clock clock.PassiveClock
	Log   *slog.Logger
	// Open opens the store of a target. Outside tests it is store.Open.
	Open func(context.Context, backup.Target) (store.Store, string, error)
	// DataDir makes data directories. Outside tests it is datadir.Apart.
	DataDir datadir.Runner
}

// New returns an Agent with real stores and processes.
func New(log *slog.Logger) *Agent {
	return &Agent{Clock: clock.RealClock{}, Log: log, Open: store.Open, DataDir: datadir.Apart}
}
