// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// configured returns a world whose host has the first configuration.
func configured(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	w.order(one)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-1", machineorder.PhaseDone)
	return w
}

func TestANodeThatIsCutOffRevertsWithinAMinute(t *testing.T) {
	w := configured(t)
	before, begin := w.Snapshot(t), w.uptime
	w.order(wall, restart)
	for w.content("/etc/firewall") == "" && w.uptime < begin+time.Hour {
		w.run(time.Second)
	}
	begin = w.uptime
	for w.content("/etc/firewall") != "" && w.uptime < begin+time.Hour {
		w.run(time.Second)
	}
	if took := w.uptime - begin; took > time.Minute {
		t.Errorf("expected a revert within a minute, got %s", took)
	}
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if r := w.report(); r.Config != "rendered-wall" || r.RevertedTo != "rendered-1" || !strings.Contains(w.node[machineorder.Reason], "neither the API server nor a peer") {
		t.Errorf("expected the report to explain the revert, got %+v", r)
	}
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" || w.did("restart crio.service") != 2 {
		t.Errorf("expected the host as before, and the action for both changes, got %v, %s", w.Calls, diff)
	}
	w.run(24 * time.Hour)
	if w.did("restart crio.service") != 2 {
		t.Error("expected a configuration that was reverted not to be tried again")
	}
	w.order(two)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
}

func TestANodeThatIsCutOffALittleLaterReverts(t *testing.T) {
	w := configured(t)
	before, restarted := w.Snapshot(t), time.Duration(0)
	w.firewall = func(w *world) bool {
		if w.did("restart crio.service") == 1 && restarted == 0 {
			restarted = w.uptime
		}
		return w.content("/etc/firewall") == "drop" && w.uptime >= restarted+8*time.Second
	}
	w.order(wall, restart)
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" {
		t.Errorf("expected the host as before: %s", diff)
	}
}

func TestANodeThatIsCutOffByARebootReverts(t *testing.T) {
	w := configured(t)
	before := w.Snapshot(t)
	w.firewall = func(w *world) bool { return w.boot > 1 && w.content("/etc/firewall") == "drop" }
	w.order(wall, reboot)
	w.run(time.Hour)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" || w.did("reboot") != 2 || w.report().BootID != "boot-3" {
		t.Errorf("expected the host as before, after a second reboot, got %v, %s", w.Calls, diff)
	}
	if w.node[machineorder.DesiredDrain] != "drain-rendered-wall" {
		t.Errorf("expected the node to stay drained for an administrator, got %v", w.node)
	}
	w.order(one)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-1", machineorder.PhaseDone)
	if w.node[machineorder.DesiredDrain] != "uncordon-rendered-1" {
		t.Errorf("expected the return to the earlier configuration to end the drain, got %v", w.node)
	}
}

func TestAnOutageOfTheAPIServerRevertsNothingWhilePeersAnswer(t *testing.T) {
	w := configured(t)
	w.order(two, restart)
	for w.content("/etc/other") == "" {
		w.run(time.Second / 10)
		w.apiDown = w.content("/etc/other") != "" || w.did("restart crio.service") > 0
		if w.uptime > 3*time.Hour {
			t.Fatal("expected the change to begin")
		}
	}
	w.apiDown = true
	w.run(9 * time.Minute)
	if w.content("/etc/other") != "two" {
		t.Fatalf("expected no revert during an outage for all: %s", w.log.String())
	}
	w.apiDown = false
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
}

func TestATrialEndsWithoutTheAPIServer(t *testing.T) {
	for name, test := range map[string]struct {
		apiBefore, reverts bool
	}{"the API server was up before": {true, true}, "it was down before": {false, false}} {
		t.Run(name, func(t *testing.T) {
			w := configured(t)
			w.order(two)
			w.agent.Turn(t.Context()) // the check needs the Secret
			w.apiDown = !test.apiBefore
			for range samples { // the trial begins
				w.agent.Turn(t.Context())
				w.uptime += decide.ProbeTime
			}
			w.apiDown = true
			w.kill()
			w.run(time.Hour)
			if reverted := w.content("/etc/other") == ""; reverted != test.reverts {
				t.Errorf("expected a revert: %v, got %v: %s", test.reverts, reverted, w.log.String())
			}
			w.apiDown = false
			w.run(time.Minute)
			if test.reverts {
				w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
			} else {
				w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
			}
		})
	}
}

func TestAnActionThatFailsIsRetriedAndThenReverted(t *testing.T) {
	w := configured(t)
	before := w.Snapshot(t)
	w.broken["crio.service"] = true
	w.order(two, restart)
	w.run(2 * time.Minute)
	if w.content("/etc/other") != "" {
		t.Errorf("expected a revert after some attempts: %s", w.log.String())
	}
	w.broken["crio.service"] = false
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" || !strings.Contains(w.report().Message, "did not complete in 5 attempts") {
		t.Errorf("expected the host as before and a reason, got %+v, %s", w.report(), diff)
	}
}

func TestARevertThatFailsAsksForHelp(t *testing.T) {
	w := configured(t)
	w.broken["crio.service"] = true
	w.order(two, restart)
	w.run(10 * time.Second)
	w.disk.Fix("/etc/other")
	w.run(2 * time.Hour)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseFailed)
	if text := w.report().Message; !strings.Contains(text, "needs a user") || !strings.Contains(text, "immutable") {
		t.Errorf("expected the report to say what is wrong and to ask for help, got %s", text)
	}
	w.broken["crio.service"] = false
	w.order(config("rendered-3", two.Files[1], file("/etc/motd", "three\n")), restart)
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDone, "rendered-3", machineorder.PhaseDone)
}
