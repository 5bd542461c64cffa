// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func TestAChangeOfTheNodeOrOfAFileWakesTheAgent(t *testing.T) {
	for name, files := range map[string]bool{"the Node": false, "a file": true} {
		w := newWorld(t)
		w.run(time.Minute) // the agent waits for an order
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		node, file := make(chan struct{}, 1), make(chan struct{}, 1)
		w.order(one)
		if files {
			file <- struct{}{}
		} else {
			node <- struct{}{}
		}
		ended := make(chan struct{})
		w.agent.Cluster = ending{api{w}, cancel}
		go func() { w.agent.Run(ctx, node, file); close(ended) }()
		<-ended
		cancel()
		if w.node[machineorder.State] != machineorder.StateDone {
			t.Errorf("%s: expected the agent to carry out the order, got %v", name, w.node)
		}
	}
}

// ending ends the agent after its first report.
type ending struct {
	api
	end func()
}

func (e ending) Write(ctx context.Context, annotations map[string]string) error {
	defer e.end()
	return e.api.Write(ctx, annotations)
}
