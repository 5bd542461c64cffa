// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// TestTheTimeOfTheActionsDoesNotCount restarts a service that needs more than a minute.
func TestTheTimeOfTheActionsDoesNotCount(t *testing.T) {
	for name, test := range map[string]struct {
		from, to time.Duration // when the node is cut off after the restart
		reverts  bool
	}{"cut off a little later": {8 * time.Second, time.Hour, true}, "back a little later": {0, 12 * time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			w := configured(t)
			restarted := time.Duration(0)
			w.Starts = func(string) {
				w.uptime += 70 * time.Second
				restarted = w.uptime
			}
			w.firewall = func(w *world) bool {
				since := w.uptime - restarted
				return restarted > 0 && w.content("/etc/firewall") == "drop" && since >= test.from && since < test.to
			}
			w.order(wall, restart)
			w.run(10 * time.Minute)
			if test.reverts {
				w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
			} else {
				w.expect(machineorder.StateDone, "rendered-wall", machineorder.PhaseDone)
			}
		})
	}
}

// TestAfterARebootTheTimesBeginWhenTheHostHasStarted has a host that needs two minutes to start.
func TestAfterARebootTheTimesBeginWhenTheHostHasStarted(t *testing.T) {
	for name, test := range map[string]struct {
		from, to time.Duration // when the node is cut off after the boot
		reverts  bool
	}{
		"a firewall that starts late":    {110 * time.Second, time.Hour, true},
		"an API server that starts late": {0, 4 * time.Minute, false},
		"a network that does not start":  {0, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := configured(t)
			w.starts = 2 * time.Minute
			w.firewall = func(w *world) bool {
				return w.boot > 1 && w.content("/etc/firewall") == "drop" && w.uptime >= test.from && w.uptime < test.to
			}
			w.order(wall, reboot)
			w.run(time.Hour)
			if test.reverts {
				w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
			} else {
				w.expect(machineorder.StateDone, "rendered-wall", machineorder.PhaseDone)
			}
		})
	}
}

// TestOneFailedProbeBeforeAChangeDoesNotDisarmTheTrial has an API server that is slow once, when the change begins.
func TestOneFailedProbeBeforeAChangeDoesNotDisarmTheTrial(t *testing.T) {
	w := configured(t)
	before := w.Snapshot(t)
	probe, calls := w.agent.Contacts, 0
	w.agent.Contacts = func(ctx context.Context, peers []machineorder.Peer) contact.Contacts {
		out := probe(ctx, peers)
		if calls++; calls == 1 {
			out.API = false
		}
		if w.content("/etc/firewall") == "drop" { // it cuts off only the API server
			out = contact.Contacts{Peers: []string{"a", "b"}}
		}
		return out
	}
	w.order(wall, restart)
	w.run(30 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" {
		t.Errorf("expected the host as before: %s", diff)
	}
}
