// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"time"
)

// calm is how long the agent waits after a change of a file, because several changes often follow each other.
const calm = time.Second

// Run takes turns until its context ends. node receives a value after a change of the Node, and files after one of a
// file that opcrew changed.
func (a *Agent) Run(ctx context.Context, node, files <-chan struct{}) {
	for ctx.Err() == nil {
		if pause := a.Turn(ctx); pause > 0 {
			a.wait(ctx, pause, node, files)
		}
	}
}

func (a *Agent) wait(ctx context.Context, pause time.Duration, node, files <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-node:
	case <-files:
		a.changed = true
		a.wait(ctx, calm, nil, nil)
	}
}
