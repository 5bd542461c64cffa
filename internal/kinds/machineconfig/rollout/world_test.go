// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

const (
	before = "rendered-1"
	target = "rendered-2"
	newer  = "rendered-3"
)

type nodeOption func(*rollout.Node)

// node returns a ready node of pool worker with the configuration from before the update.
func node(name string, options ...nodeOption) *rollout.Node {
	n := &rollout.Node{Name: name, Pools: []string{"worker"}, Current: before, Desired: before, Ready: true}
	n.Health = rollout.Health{Met: true, Since: now.Add(-time.Hour), Applied: now.Add(-time.Hour)}
	for _, o := range options {
		o(n)
	}
	return n
}

func in(pools ...string) nodeOption { return func(n *rollout.Node) { n.Pools = pools } }

func is(phase rollout.Phase) nodeOption {
	return func(n *rollout.Node) {
		n.Phase = phase
		if phase == rollout.WantsUncordon {
			n.Current = target
		}
		n.Desired = target
	}
}

func wants(config string) nodeOption { return func(n *rollout.Node) { n.Desired = config } }

func has(config string) nodeOption {
	return func(n *rollout.Node) { n.Current, n.Desired = config, config }
}

func ours(n *rollout.Node)         { n.Cordon = rollout.Ours }
func foreign(n *rollout.Node)      { n.Cordon = rollout.Foreign }
func used(n *rollout.Node)         { n.Activity = "chores/upgrade" }
func drained(n *rollout.Node)      { n.Drained = true }
func joining(n *rollout.Node)      { n.Joining, n.Current, n.Desired = true, "", "" }
func controlPlane(n *rollout.Node) { n.ControlPlane = true }
func hostsOperator(n *rollout.Node) {
	n.HostsOperator = true
}

// lost makes a node not ready for longer than the health gate allows.
func lost(n *rollout.Node) {
	down(n)
	n.ReadySince = now.Add(-11 * time.Minute)
}

// orderedBefore sets how long before now the node got its order.
func orderedBefore(ago time.Duration) nodeOption {
	return func(n *rollout.Node) { n.Ordered = now.Add(-ago) }
}
func reverted(n *rollout.Node) { n.Reverted = true }
func isCanary(n *rollout.Node) { n.Canary = true }
func down(n *rollout.Node) {
	n.Ready, n.ReadySince, n.Health.Met, n.Health.Since = false, now.Add(-time.Minute), false, now.Add(-time.Minute)
}
func zone(name string) nodeOption {
	return func(n *rollout.Node) { n.Zone = name }
}

// applied sets when the node was updated, and how long before now it became healthy (or unhealthy).
func applied(ago time.Duration, met bool, since time.Duration) nodeOption {
	return func(n *rollout.Node) {
		n.Health = rollout.Health{Met: met, Since: now.Add(-since), Applied: now.Add(-ago)}
	}
}

type poolOption func(*rollout.Pool)

func pool(name string, options ...poolOption) *rollout.Pool {
	p := &rollout.Pool{Name: name, Target: target, Last: before, Rollout: rollout.Policy{MaxFailures: 1, Timeout: 10 * time.Minute}}
	for _, o := range options {
		o(p)
	}
	return p
}

func most(text string) poolOption {
	return func(p *rollout.Pool) { v := intstr.Parse(text); p.MaxUnavailable = &v }
}

func isPaused(p *rollout.Pool)  { p.Paused = true }
func rollsBack(p *rollout.Pool) { p.Rollout.RollBack = true }
func soak(d time.Duration) poolOption {
	return func(p *rollout.Pool) { p.Rollout.Soak, p.Rollout.CanarySoak = d, d }
}
func withCanary(p *rollout.Pool) { p.Rollout.Canary, p.Rollout.CanarySoak = true, 5*time.Minute }
func maxFailures(n int) poolOption {
	return func(p *rollout.Pool) { p.Rollout.MaxFailures = n }
}
func renders(config string) poolOption { return func(p *rollout.Pool) { p.Target = config } }

func cluster(parts ...any) rollout.Cluster {
	c := rollout.Cluster{Now: now}
	for _, part := range parts {
		switch p := part.(type) {
		case *rollout.Node:
			c.Nodes = append(c.Nodes, p)
		case *rollout.Pool:
			c.Pools = append(c.Pools, p)
		case func(*rollout.Cluster):
			p(&c)
		}
	}
	if len(c.Pools) == 0 {
		c.Pools = []*rollout.Pool{pool("worker")}
	}
	return c
}

func etcd(trouble string) func(*rollout.Cluster) {
	return func(c *rollout.Cluster) { c.EtcdTrouble = trouble }
}
func lockedBy(nodes ...string) func(*rollout.Cluster) {
	return func(c *rollout.Cluster) { c.Kured = nodes }
}

// text describes a decision, one line per node: its step, or the reason for which it waits.
func text(d rollout.Decision) string {
	var out []string
	for _, r := range d.RollBacks {
		out = append(out, fmt.Sprintf("roll back %s from %s to %s because of %s", r.Pool, r.From, r.To, strings.Join(r.Nodes, ", ")))
	}
	for _, n := range d.Nodes {
		what := string(n.Action)
		switch {
		case n.Action == "":
			what = "waits: " + n.Reason
		case n.Skip:
			what += " " + n.Config + " without a drain"
		case n.Config != "":
			what += " " + n.Config
		}
		out = append(out, n.Node+" "+what)
	}
	return strings.Join(out, "\n")
}
