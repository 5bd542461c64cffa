// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// withUnit returns a configuration with a new unit, and the actions that the operator orders for it by default.
func withUnit(name string) (hostconfig.Config, []machineorder.Action) {
	c := config("rendered-unit")
	c.Units = []hostconfig.Unit{unit(name)}
	return c, []machineorder.Action{{Type: machineorder.ActionDaemonReload}, {Type: machineorder.ActionRestart, Unit: name}}
}

func TestANewUnitThatDoesNotStartIsReverted(t *testing.T) {
	w := configured(t)
	before := w.Snapshot(t)
	w.broken["bad.service"] = true
	c, actions := withUnit("bad.service")
	w.order(c, actions...)
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" || !strings.Contains(w.report().Message, "bad.service failed") {
		t.Errorf("expected the host as before, and the reason, got %q, %s", w.report().Message, diff)
	}
	if w.did("reset-failed bad.service") != 1 {
		t.Errorf("expected systemd to forget the unit that is gone, got %v", w.Calls)
	}
}

// The fake calls Stops only while the unit has a file, as systemd runs ExecStop.
func TestAUnitThatARevertRemovesIsStoppedByItsOwnFile(t *testing.T) {
	w := configured(t)
	walled := false
	w.Starts = func(unit string) { walled = walled || unit == "wall.service" }
	w.Stops = func(unit string) { walled = walled && unit != "wall.service" }
	w.firewall = func(*world) bool { return walled }
	c, actions := withUnit("wall.service")
	w.order(c, actions...)
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if w.Active["wall.service"] || walled {
		t.Error("expected the unit of the reverted configuration to be stopped, and to undo what it did")
	}
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
}

func TestAnActionThatTheHostCannotDoIsLeftOut(t *testing.T) {
	w := configured(t)
	w.Write(t, "/usr/lib/systemd/system/idle.service", "[Service]\n", 0o644, 0)
	w.order(two, machineorder.Action{Type: machineorder.ActionRestart, Unit: "coreos-update-ca-trust.service"},
		machineorder.Action{Type: machineorder.ActionReload, Unit: "idle.service"}, restart)
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
	text := w.report().Message
	if !strings.Contains(text, "coreos-update-ca-trust.service was left out, because it is not-found") || !strings.Contains(text, "Reload of idle.service was left out") {
		t.Errorf("expected the report to name what was left out, got %q", text)
	}
	if w.did("restart crio.service") != 1 {
		t.Errorf("expected the other action, got %v", w.Calls)
	}
}

func TestARevertWhoseActionFailsIsComplete(t *testing.T) {
	w := configured(t)
	before := w.Snapshot(t)
	w.broken["crio.service"] = true
	w.order(two, restart)
	w.run(5 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	text := w.report().Message
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" || !strings.Contains(text, "the step Act of the revert to rendered-1 did not complete in 5 attempts: Restart crio.service: crio.service failed") {
		t.Errorf("expected the host as before, and the failed action in the report, got %q, %s", text, diff)
	}
}

func TestAUserCannotBlockARevert(t *testing.T) {
	w := newWorld(t)
	w.Write(t, "/etc/passwd", "root:x:0:0::/root:/bin/sh\ncore:x:1000:1000::/home/core:/bin/sh\n", 0o644, 0)
	w.Mkdir(t, "/home/core")
	keys := hostconfig.User{Name: "core", SSHAuthorizedKeys: []string{"ssh-rsa ONE"}}
	first, second := one, wall
	first.Users, second.Users = []hostconfig.User{keys}, []hostconfig.User{keys}
	w.order(first)
	w.run(time.Minute)
	w.order(second, restart)
	for w.content("/etc/firewall") == "" {
		w.run(time.Second)
	}
	must(t, w.FS.Remove("/home/core/.ssh/authorized_keys"))
	must(t, w.FS.WriteLink("/home/core/.ssh", hostfs.Entry{Type: hostfs.Link, Target: "k", UID: 1000}))
	w.run(10 * time.Minute)
	w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
	if text := w.report().Message; w.content("/etc/firewall") != "" || !strings.Contains(text, "follows no links") {
		t.Errorf("expected the firewall to be removed, and the link to be reported, got %q", text)
	}
}
