// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

var (
	drainNode = machineorder.Action{Type: machineorder.ActionDrain}
	restart   = machineorder.Action{Type: machineorder.ActionRestart, Unit: "crio.service"}
	reboot    = machineorder.Action{Type: machineorder.ActionReboot}
)

func file(p, content string) hostconfig.File {
	c := []byte(content)
	return hostconfig.File{Entry: hostconfig.Entry{Path: p, Overwrite: true}, Contents: &c}
}

func config(name string, files ...hostconfig.File) hostconfig.Config {
	return hostconfig.Config{Name: name, Files: files}
}

var (
	one   = config("rendered-1", file("/etc/motd", "one\n"), file("/etc/app/conf", "one"))
	two   = config("rendered-2", file("/etc/motd", "two\n"), file("/etc/other", "two"))
	wall  = config("rendered-wall", file("/etc/motd", "wall\n"), file("/etc/firewall", "drop"))
	empty = hostconfig.Config{Name: machineorder.None}
)

func TestAChangeWithoutADrainNeedsOneWrite(t *testing.T) {
	w := newWorld(t)
	w.order(one, restart)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-1", machineorder.PhaseDone)
	if w.writes != 1 || w.reads != 1 || w.did("restart crio.service") != 1 || w.content("/etc/motd") != "one\n" || w.node[machineorder.DesiredDrain] != "" {
		t.Errorf("expected one write after one reading of the Secret, and no drain, got %d and %d, %v, %v", w.writes, w.reads, w.Calls, w.node)
	}
}

func TestAtRestThereAreNoCallsAndNoLogs(t *testing.T) {
	w := newWorld(t)
	w.run(time.Hour)
	w.order(one)
	w.run(time.Hour)
	writes, reads, log := w.writes, w.reads, w.log.Len()
	w.run(24 * time.Hour)
	w.kill()
	w.run(24 * time.Hour)
	if w.writes != writes || w.reads != reads || w.log.Len() != log {
		t.Errorf("expected no calls and no logs at rest and after a restart, got %d and %d more: %s", w.writes-writes, w.reads-reads, w.log.String()[log:])
	}
}

func TestNothingChangesBeforeTheNodeIsDrained(t *testing.T) {
	w := newWorld(t)
	w.drains = false
	before := w.Snapshot(t)
	w.order(one, drainNode, restart)
	w.run(time.Hour)
	w.expect(machineorder.StateWorking, "", machineorder.PhaseDrain)
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" || w.node[machineorder.DesiredDrain] != "drain-rendered-1" {
		t.Errorf("expected a request for a drain and no change, got %v, %s", w.node, diff)
	}
	w.drains = true
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-1", machineorder.PhaseDone)
	if w.node[machineorder.DesiredDrain] != "uncordon-rendered-1" || w.writes != 2 {
		t.Errorf("expected a request to uncordon the node after two writes, got %d, %v", w.writes, w.node)
	}
}

func TestANodeThatJoinsNeedsNoDrain(t *testing.T) {
	w := newWorld(t)
	o := w.order(one, reboot)
	o.SkipDrain = true
	w.give(o)
	w.run(10 * time.Minute)
	w.expect(machineorder.StateDone, "rendered-1", machineorder.PhaseDone)
	if w.did("reboot") != 1 || w.node[machineorder.DesiredDrain] != "" {
		t.Errorf("expected a reboot without a drain, got %v, %v", w.Calls, w.node)
	}
}

func TestAfterARebootTheKernelArgumentsAreVerified(t *testing.T) {
	for name, lost := range map[string]bool{"present": false, "missing": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.order(one)
			w.run(time.Minute)
			before := w.Snapshot(t)
			w.lostArguments = lost
			c := two
			c.KernelArguments = []string{"mitigations=off"}
			w.order(c, reboot)
			w.run(30 * time.Minute)
			if !lost {
				w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
				if r := w.report(); r.BootID != "boot-2" || w.did("reboot") != 1 || !strings.Contains(w.command, "mitigations=off") {
					t.Errorf("expected one reboot, got %+v, %v", r, w.Calls)
				}
				return
			}
			w.expect(machineorder.StateDegraded, "rendered-1", machineorder.PhaseReverted)
			if r := w.report(); !strings.Contains(r.Message, "mitigations=off is missing") || r.RevertedTo != "rendered-1" || w.did("reboot") != 2 {
				t.Errorf("expected the revert to name the missing argument, got %+v, %v", r, w.Calls)
			}
			if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" {
				t.Errorf("expected the host as before: %s", diff)
			}
		})
	}
}

func TestAHostHasTimeToGoDown(t *testing.T) {
	w := configured(t)
	w.order(two, reboot)
	for range 20 { // the Node changes often, but the host does not go down
		w.agent.Turn(t.Context())
		w.operate()
	}
	if w.did("reboot") != 1 {
		t.Errorf("expected one request for a reboot, got %d", w.did("reboot"))
	}
	w.uptime += rebootTime
	w.agent.Turn(t.Context())
	if w.did("reboot") != 2 {
		t.Errorf("expected another request when the host did not go down, got %d", w.did("reboot"))
	}
}

func TestAnEmptyConfigurationRestoresTheHost(t *testing.T) {
	w := newWorld(t)
	before := w.Snapshot(t)
	w.order(one)
	w.run(time.Minute)
	w.order(two)
	w.run(time.Minute)
	w.order(empty)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, machineorder.None, machineorder.PhaseDone)
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" {
		t.Errorf("expected the host as before opcrew: %s", diff)
	}
	if names, _ := w.FS.Names(hostconfig.StateDirectory + "/configs"); len(names) > 0 {
		t.Errorf("expected no configuration to be left, got %v", names)
	}
}

func TestAnOrderThatChangesDuringATrialIsCarriedOutAfterwards(t *testing.T) {
	w := newWorld(t)
	w.order(one, restart)
	for range 4 { // check, begin, apply
		w.agent.Turn(t.Context())
	}
	w.order(two)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
	if w.content("/etc/motd") != "two\n" || w.content("/etc/app/conf") != "" || w.did("restart crio.service") != 1 {
		t.Errorf("expected the first change to be complete and replaced, got %v", w.Calls)
	}
}

func TestAStaleWriteIsRefusedAndRepeated(t *testing.T) {
	w := newWorld(t)
	w.order(one)
	for w.writes == 0 {
		if in := w.agent.observe(); in.Journal.Outcome != "" {
			w.order(two) // the agent has not seen it when it reports
			must := api{w}.Write(t.Context(), map[string]string{machineorder.State: "x"})
			if must == nil {
				t.Fatal("expected a write about an old order to be refused")
			}
			break
		}
		w.agent.Turn(t.Context())
	}
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
}

func TestAnEmptyListOfActionsIsNoNewOrder(t *testing.T) {
	w := newWorld(t)
	w.order(one)
	w.node[machineorder.OrderAnnotation] = strings.Replace(w.node[machineorder.OrderAnnotation], `"peers"`, `"actions":[],"peers"`, 1)
	w.run(time.Hour)
	w.expect(machineorder.StateDone, "rendered-1", machineorder.PhaseDone)
	calls := w.disk.Calls()
	w.run(5 * time.Minute)
	if w.disk.Calls() != calls {
		t.Errorf("expected the agent to rest, got %d writing calls", w.disk.Calls()-calls)
	}
}
