// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/firewall/cluster/clustertest"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestAClientFollowsTheDocuments(t *testing.T) {
	s := clustertest.New(t)
	s.Start()
	s.Set("pool-gold", "1")
	s.Set("nodes", "n")
	c, err := New(s.Config(), "node", clock.RealClock{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, known := c.Documents(); known {
		t.Error("expected nothing to be known before the first reading")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.Watch(ctx) }()
	defer func() { cancel(); <-ended }()
	await := func(when, want string) {
		t.Helper()
		eventually.True(t, 30*time.Second, when, func() error {
			pools, nodes, known := c.Documents()
			if got := fmt.Sprintf("%v %s %v", pools, nodes, known); got != want {
				return fmt.Errorf("got %s", got)
			}
			return nil
		})
	}
	await("the first reading", "map[gold:1] n true")
	<-c.Changed
	eventually.True(t, 30*time.Second, "a watch", func() error {
		if s.Count("GET /api/v1/namespaces/opcrew-firewall/configmaps true") == 0 {
			return fmt.Errorf("none yet")
		}
		return nil
	})
	s.Set("pool-gold", "2")
	await("a change", "map[gold:2] n true")
	<-c.Changed
	s.Set("pool-gold", "")
	await("a deletion", "map[] n true")
	s.Expire()
	s.Set("pool-silver", "3")
	await("a change during an outage", "map[silver:3] n true")
}

func TestAReportIsOnePatchOfOneAnnotation(t *testing.T) {
	s := clustertest.New(t)
	s.Start()
	c, err := New(s.Config(), "node", clock.RealClock{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{`{"a":1}`: `"opcrew.io/firewall":"{\"a\":1}"`, "": `"opcrew.io/firewall":null`} {
		if err := c.Report(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if got := s.Report("node"); !strings.Contains(got, want) {
			t.Errorf("expected %s, got %s", want, got)
		}
	}
	if len(s.Calls) != 2 {
		t.Errorf("expected two calls, got %v", s.Calls)
	}
}

func TestOnlyAnAnswerIsContact(t *testing.T) {
	s := clustertest.New(t)
	s.Start()
	c, err := New(s.Config(), "node", clock.RealClock{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Reaches(t.Context()) {
		t.Error("expected contact")
	}
	s.Close()
	if c.Reaches(t.Context()) {
		t.Error("expected no contact with a server that ended")
	}
}
