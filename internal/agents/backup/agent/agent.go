// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agent executes the orders of package backup: it saves, prunes, verifies or restores etcd backups. Each of
// these tasks has a file of its own; catalog.go handles the stored objects of a path.
//
// Three other packages do the details: store accesses object stores, snapshot reads etcd members, and datadir creates
// data directories.
package agent

import (
	"context"
	"log/slog"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/backup/datadir"
	"github.com/opcrew/opcrew/internal/agents/backup/store"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Agent executes orders, the backup tasks that the operator gives to a pod.
type Agent struct {
	Clock clock.PassiveClock
	Log   *slog.Logger
	// Open opens the store of a target. It is store.Open except in tests.
	Open func(context.Context, backup.Target) (store.Store, string, error)
	// DataDir creates data directories. It is datadir.Apart except in tests.
	DataDir datadir.Runner
}

// New returns an Agent that uses real stores and processes.
func New(log *slog.Logger) *Agent {
	return &Agent{Clock: clock.RealClock{}, Log: log, Open: store.Open, DataDir: datadir.Apart}
}
