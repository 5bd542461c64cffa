// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster/clustertest"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/probe"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// TestAnAgentServesAnAPIServer runs an agent with its client, and counts calls on the server.
func TestAnAgentServesAnAPIServer(t *testing.T) {
	s := clustertest.New(t)
	w := newWorld(t)
	client, err := cluster.New(s.Credentials(t), clock.RealClock{}, slog.New(slog.NewTextHandler(&w.log, nil)))
	must(t, err)
	w.agent.Cluster, w.agent.Contacts = client, probe.New(client.Reaches).Contacts
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { client.Watch(ctx); close(ended) }()
	go w.agent.Run(ctx, client.Changed, nil)
	defer func() { cancel(); s.CloseClientConnections(); <-ended }()
	o := w.order(one, drainNode)
	s.Mutex.Lock()
	s.Secrets[o.Config] = map[string][]byte{machineorder.SecretKey: w.secrets[o.Config]}
	s.Mutex.Unlock()
	give := func(annotations map[string]string) {
		s.Set(func(node map[string]string) { maps.Copy(node, annotations) })
	}
	give(w.node)
	s.Await(t, machineorder.DesiredDrain, "drain-rendered-1")
	give(map[string]string{machineorder.LastAppliedDrain: "drain-rendered-1"})
	s.Await(t, machineorder.CurrentConfig, "rendered-1")
	s.Await(t, machineorder.DesiredDrain, "uncordon-rendered-1")
	eventually.Stays(t, 100*time.Millisecond, "two writes and one reading of the Secret are enough", func() error {
		if patches, gets := s.Count("PATCH"), s.Count("GET /api/v1/namespaces"); patches != 2 || gets != 1 {
			return fmt.Errorf("got %d writes and %d readings", patches, gets)
		}
		return nil
	})
}
