// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// drifted returns a world with a policy in which a user has edited a file.
func drifted(t testing.TB, policy machineorder.Policy) *world {
	t.Helper()
	w := newWorld(t)
	o := w.order(one)
	o.Drift = policy
	w.give(o)
	w.run(time.Minute)
	w.Machine.Write(t, "/etc/motd", "edited\n", 0o644, 0)
	w.agent.changed = true
	w.run(time.Minute)
	return w
}

const edited = "/etc/motd: the content was changed"

func TestDriftIsTreatedByThePolicy(t *testing.T) {
	for policy, want := range map[machineorder.Policy]struct {
		content string
		drift   []string
	}{"": {"edited\n", []string{edited}}, machineorder.ReportDrift: {"edited\n", []string{edited}}, machineorder.RepairDrift: {"one\n", nil}, machineorder.AdoptDrift: {"edited\n", nil}} {
		w := drifted(t, policy)
		w.expect(machineorder.StateDone, "rendered-1", machineorder.PhaseDone)
		if r := w.report(); !slices.Equal(r.Drift, want.drift) || w.content("/etc/motd") != want.content {
			t.Errorf("policy %q: expected %q and drift %v, got %q and %+v", policy, want.content, want.drift, w.content("/etc/motd"), r)
		}
	}
}

func TestDriftIsFoundWithoutAnEventAndWithoutTheAPIServer(t *testing.T) {
	w := newWorld(t)
	o := w.order(one)
	o.Drift = machineorder.RepairDrift
	w.give(o)
	w.run(time.Minute)
	w.apiDown, w.seen = true, nil
	w.kill()
	w.run(time.Minute)
	w.Machine.Write(t, "/etc/motd", "edited\n", 0o644, 0)
	w.run(11 * time.Minute)
	if w.content("/etc/motd") != "one\n" {
		t.Errorf("expected a repair after the next scan, got %q", w.content("/etc/motd"))
	}
}

func TestDriftIsRepairedWhileNothingCanBeReported(t *testing.T) {
	w := drifted(t, machineorder.RepairDrift)
	w.apiDown, w.seen = true, maps.Clone(w.node)
	delete(w.seen, machineorder.State)
	w.Machine.Write(t, "/etc/motd", "edited\n", 0o644, 0)
	w.agent.changed = true
	w.run(10 * time.Second)
	if w.content("/etc/motd") != "one\n" {
		t.Errorf("expected a repair, got %q: %s", w.content("/etc/motd"), w.log.String())
	}
}

func TestTheFilesOfANewConfigurationAreWatchedAtOnce(t *testing.T) {
	w := configured(t)
	w.order(two)
	w.run(time.Minute)
	if w.watched != "rendered-2" {
		t.Errorf("expected the files of rendered-2 to be watched, got those of %q", w.watched)
	}
}

func TestAChangedPolicyTakesEffectWithoutANewConfiguration(t *testing.T) {
	w := drifted(t, machineorder.ReportDrift)
	writes := w.writes
	o := w.order(one)
	o.Drift = machineorder.RepairDrift
	w.give(o)
	w.run(11 * time.Minute)
	if r := w.report(); len(r.Drift) > 0 || w.content("/etc/motd") != "one\n" || w.writes != writes+1 {
		t.Errorf("expected a repair and one report of it, got %q, %d writes and %+v", w.content("/etc/motd"), w.writes-writes, r)
	}
}

func TestAContestIsReportedAndEnds(t *testing.T) {
	w := drifted(t, machineorder.RepairDrift)
	for range 5 {
		w.Machine.Write(t, "/etc/motd", "edited\n", 0o644, 0)
		w.agent.changed = true
		w.run(31 * time.Second)
	}
	if r := w.report(); len(r.Drift) != 1 || !strings.Contains(r.Drift[0], "another program undoes each repair") || w.content("/etc/motd") != "edited\n" {
		t.Errorf("expected the agent to give way and report it, got %+v, %s", r, w.log.String())
	}
	w.run(time.Hour)
	if r := w.report(); len(r.Drift) != 0 || w.content("/etc/motd") != "one\n" {
		t.Errorf("expected a repair after a pause, got %+v", r)
	}
}

func TestADriftThatCannotBeRepairedIsReported(t *testing.T) {
	w := newWorld(t)
	o := w.order(one)
	o.Drift = machineorder.RepairDrift
	w.give(o)
	w.run(time.Minute)
	must(t, w.FS.Remove("/etc/motd"))
	w.Mkdir(t, "/etc/motd/not empty")
	w.agent.changed = true
	w.run(time.Minute)
	if r := w.report(); !slices.Equal(r.Drift, []string{"/etc/motd: it is directory instead of file"}) {
		t.Errorf("expected the drift to be reported, got %+v: %s", r, w.log.String())
	}
}

func TestARestartKeepsTheReportedDrift(t *testing.T) {
	w := drifted(t, machineorder.ReportDrift)
	writes := w.writes
	w.kill()
	w.run(time.Hour)
	if w.writes != writes || !slices.Equal(w.report().Drift, []string{edited}) {
		t.Errorf("expected no write after a restart, got %d and %+v", w.writes-writes, w.report())
	}
}

// TestAStateThatCannotBeObservedIsNoDrift lets systemctl fail during a scan, as it does while systemd is replaced.
func TestAStateThatCannotBeObservedIsNoDrift(t *testing.T) {
	for _, policy := range []machineorder.Policy{machineorder.ReportDrift, machineorder.RepairDrift, machineorder.AdoptDrift} {
		w := newWorld(t)
		c := one
		c.Units = []hostconfig.Unit{unit("app.service")}
		o := w.order(c)
		o.Drift = policy
		w.give(o)
		w.run(time.Minute)
		before, _ := w.agent.Host.Store.Load()
		w.Unknown, w.agent.changed = errors.New("connection timed out"), true
		w.run(time.Minute)
		after, _ := w.agent.Host.Store.Load()
		if diff := cmp.Diff(before, after); diff != "" || len(w.report().Drift) > 0 || w.did("enable app.service") != 1 || !strings.Contains(w.log.String(), "connection timed out") {
			t.Errorf("policy %s: expected no drift, and the error in the log, got %+v, %s", policy, w.report(), diff)
		}
	}
}

func TestAFileThatCannotBeExaminedIsReported(t *testing.T) {
	w := configured(t)
	must(t, w.FS.Remove("/etc/app/conf"))
	must(t, w.FS.WriteLink("/etc/app", hostfs.Entry{Type: hostfs.Link, Target: "/srv"}))
	w.agent.changed = true
	w.run(time.Minute)
	if r := w.report(); len(r.Drift) != 2 || !strings.Contains(r.Drift[0], "/etc/app/conf cannot be examined") {
		t.Errorf("expected the file behind a link to be reported, got %+v", r)
	}
}

func TestAContestThatOnlyScansFindIsReported(t *testing.T) {
	w := drifted(t, machineorder.RepairDrift)
	for range 6 {
		w.Machine.Write(t, "/etc/motd", "edited\n", 0o644, 0)
		w.run(10 * time.Minute)
	}
	if !strings.Contains(w.log.String(), "another program undoes each repair") {
		t.Errorf("expected the contest to be reported: %s", w.log.String())
	}
}

func TestAFileThatChangesAllTheTimeCausesFewScans(t *testing.T) {
	w := configured(t)
	w.run(time.Hour)
	scans, last := 0, w.agent.scanned
	for range 120 {
		w.agent.changed = true
		w.run(time.Second)
		if w.agent.scanned != last {
			scans, last = scans+1, w.agent.scanned
		}
	}
	if scans < 2 || scans > 5 {
		t.Errorf("expected a scan each 30 seconds, got %d in two minutes", scans)
	}
}
