// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/agents/firewall"
	"github.com/opcrew/opcrew/internal/agents/firewall/cluster"
	"github.com/opcrew/opcrew/internal/agents/firewall/cluster/clustertest"
	"github.com/opcrew/opcrew/internal/agents/firewall/kernel"
	"github.com/opcrew/opcrew/internal/agents/firewall/nettest"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const apiPort = 7443

// site is a node with its agent, an API server on another host, and a client.
type site struct {
	node, client *nettest.Host
	server       *clustertest.Server
	kernel       *kernel.Kernel
	clock        *clocktesting.FakeClock
	dir          string
}

// tracking makes the kernel track connections, as the rules of kube-proxy do.
const tracking = `table inet proxy {
	chain forward {
		type filter hook forward priority filter;
		ct state established accept
	}
}
`

func newSite(t *testing.T) *site {
	t.Helper()
	n := nettest.New(t)
	s := &site{node: n.Host(t), client: n.Host(t), server: clustertest.New(t), clock: clocktesting.NewFakeClock(time.Now()), dir: t.TempDir()}
	api := n.Host(t)
	s.server.Listener.Close()
	s.server.Listener = api.Listen(t, "tcp4", fmt.Sprint(api.V4, ":", apiPort))
	s.server.Start()
	s.kernel = kernel.New(nftables.WithNetNSFd(int(s.node.File.Fd())))
	s.kernel.Read = s.node.ReadFile
	return s
}

// agent starts an agent whose clock the test moves.
func (s *site) agent(t *testing.T) *firewall.Agent {
	t.Helper()
	config := s.server.Config()
	config.Dial = s.node.DialContext
	log := slog.New(slog.DiscardHandler)
	client, err := cluster.New(config, "node", clock.RealClock{}, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); client.Watch(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return &firewall.Agent{Node: "node", Kernel: s.kernel, Cluster: client, Store: firewall.NewStore(s.dir), Clock: s.clock, Log: log}
}

// declare writes rules of a pool that opens a port to the client.
func (s *site) declare(t *testing.T, port uint16) {
	t.Helper()
	text, err := nodefirewall.Encode(nodefirewall.Pool{Name: "gold", Members: []string{"node"}, Deny: true, Rules: []nodefirewall.Rule{{
		From:  []netip.Prefix{netip.MustParsePrefix(s.client.V4 + "/32"), netip.MustParsePrefix(s.client.V6 + "/128")},
		Ports: []nodefirewall.Ports{{Protocol: nodefirewall.TCP, First: port, Last: port}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s.server.Set("pool-gold", text)
}

// turn moves the agent until a condition holds. Its clock shows the time that calls take, and skips the waits between.
func (s *site) turn(t *testing.T, a *firewall.Agent, what string, holds func() bool) time.Duration {
	t.Helper()
	begin := s.clock.Now()
	eventually.True(t, 60*time.Second, what, func() error {
		start := time.Now()
		wait := a.Turn(t.Context())
		s.clock.Step(wait + time.Since(start))
		if !holds() {
			return fmt.Errorf("not yet after %s", s.clock.Now().Sub(begin))
		}
		return nil
	})
	return s.clock.Now().Sub(begin)
}

func (s *site) reports(text string) func() bool {
	return func() bool { return strings.Contains(s.server.Report("node"), text) }
}

func TestARuleSetThatCutsTheNodeOffRevertsWithinAMinute(t *testing.T) {
	s := newSite(t)
	s.node.Load(t, tracking)
	s.node.Serve(t, 80)
	s.node.Serve(t, 81)
	a := s.agent(t)
	s.declare(t, 80)
	s.turn(t, a, "the first rules are confirmed", s.reports("active"))
	if !s.client.Reaches("tcp4", s.node.V4, 80) || s.client.Reaches("tcp4", s.node.V4, 81) {
		t.Error("expected port 80 to be open, and port 81 to be closed")
	}
	first := s.node.Run(t, "nft", "-s", "list", "ruleset")

	s.declare(t, 81)
	eventually.True(t, 30*time.Second, "the agent has read the second rules", func() error {
		if pools, _, _ := a.Cluster.Documents(); !strings.Contains(pools["gold"], `"first":81`) {
			return errors.New("not yet")
		}
		return nil
	})
	// Without connection tracking, answers of the API server are packets like others, so the rules cut the node off. The
	// node has contact until the trial begins, because its table is gone.
	s.node.Load(t, fmt.Sprintf(`table inet untracked {
		chain arriving {
			type filter hook prerouting priority raw;
			tcp sport %d notrack
		}
		chain leaving {
			type filter hook output priority raw;
			tcp dport %d notrack
		}
	}
	`, apiPort, apiPort))
	s.node.Load(t, "delete table inet opcrew_firewall")
	s.turn(t, a, "the trial begins", func() bool { return strings.Contains(s.node.Run(t, "nft", "list", "ruleset"), "dport 81 ") })
	began := s.clock.Now()
	s.turn(t, a, "the revert", func() bool {
		return !strings.Contains(s.node.Run(t, "nft", "list", "ruleset"), "dport 81 ")
	})
	if took := s.clock.Now().Sub(began); took > time.Minute {
		t.Errorf("expected the revert within a minute, it took %s", took)
	} else {
		t.Logf("reverted after %s", took)
	}
	s.node.Load(t, "delete table inet untracked")
	s.turn(t, a, "the report of the revert", s.reports("did not reach the API server"))
	if now := s.node.Run(t, "nft", "-s", "list", "ruleset"); now != first {
		t.Errorf("expected the first rules, found\n%s", now)
	}
}

func TestAnAgentThatIsKilledDuringATrialRevertsAtItsNextStart(t *testing.T) {
	s := newSite(t)
	s.node.Load(t, tracking)
	a := s.agent(t)
	s.declare(t, 80)
	s.turn(t, a, "the first rules are confirmed", s.reports("active"))
	first := s.node.Run(t, "nft", "-s", "list", "ruleset")
	s.declare(t, 81)
	s.turn(t, a, "the trial begins", func() bool { return strings.Contains(s.node.Run(t, "nft", "list", "ruleset"), "dport 81 ") })
	s.server.CloseClientConnections()
	s.server.Listener.Close() // the agent is killed here, and the next one has no contact
	next := s.agent(t)
	next.Turn(t.Context())
	if now := s.node.Run(t, "nft", "-s", "list", "ruleset"); now != first {
		t.Errorf("expected the first rules, found\n%s", now)
	}
}

func TestTheProgramFollowsTheAPIServer(t *testing.T) {
	s := newSite(t)
	s.node.Load(t, tracking)
	s.node.Serve(t, 80)
	config := s.server.Config()
	config.Dial = s.node.DialContext
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- With(ctx, Options{Node: "node", StateDir: s.dir}, config, s.kernel, slog.New(slog.DiscardHandler))
	}()
	await := func(what string, reached bool) {
		t.Helper()
		eventually.True(t, 30*time.Second, what, func() error {
			for _, family := range [][2]string{{"tcp4", s.node.V4}, {"tcp6", s.node.V6}} {
				if s.client.Reaches(family[0], family[1], 80) != reached {
					return fmt.Errorf("%s is not so", family[0])
				}
			}
			return nil
		})
	}
	await("without rules, the port is open", true)
	s.declare(t, 81)
	await("the port is closed", false)
	s.declare(t, 80)
	await("the port is open", true)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if exists, err := s.kernel.Exists(); !exists || err != nil {
		t.Error("expected confirmed rules to stay when the agent ends")
	}
}

func TestConnectionsFromBeforeTheFirstRulesGoOn(t *testing.T) {
	s := newSite(t)
	s.node.Serve(t, 80)
	s.client.Serve(t, 90)
	incoming, outgoing := s.client.Open("tcp4", s.node.V4, 80), s.node.Open("tcp6", s.client.V6, 90)
	if tracks, err := s.kernel.Tracks(); tracks || err != nil {
		t.Fatalf("expected a kernel that tracks no connections, got %v, %v", tracks, err)
	}
	a := s.agent(t)
	s.declare(t, 81)
	s.turn(t, a, "the agent lets the kernel learn", func() bool { exists, _ := s.kernel.Exists(); return exists })
	for _, conn := range []net.Conn{incoming, outgoing} {
		if !nettest.Answers(conn) {
			t.Error("expected the connection to work while the kernel learns")
		}
	}
	s.turn(t, a, "the rules are confirmed", s.reports("active"))
	for _, conn := range []net.Conn{incoming, outgoing} {
		if !nettest.Answers(conn) {
			t.Error("expected the connection to go on")
		}
	}
	if s.client.Reaches("tcp4", s.node.V4, 80) {
		t.Error("expected new connections to be refused")
	}
}
