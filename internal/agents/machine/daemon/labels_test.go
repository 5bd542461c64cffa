// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/hosttest"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// labelled declares a new file, and a service that reads it.
func labelled() hostconfig.Config {
	content := []byte("new\n")
	file := hostconfig.File{Entry: hostconfig.Entry{Path: "/etc/new.conf"}, Contents: &content}
	return hostconfig.Config{Name: "rendered-labels", Files: []hostconfig.File{file}}
}

var restartsCrio = machineorder.Action{Type: machineorder.ActionRestart, Unit: "crio.service"}

// The policy of SELinux is simulated.
func TestANewFileHasItsLabelBeforeAServiceReadsIt(t *testing.T) {
	w := newWorld(t)
	w.Confine(t)
	w.order(labelled(), restartsCrio)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-labels", machineorder.PhaseDone)
	if set, read := slices.Index(w.Calls, "restorecon"), slices.Index(w.Calls, "restart crio.service"); set < 0 || read < set {
		t.Errorf("expected the label to be set before the service starts, got %q", w.Calls)
	}
	if found, err := w.FS.Read("/etc/new.conf"); err != nil || found.Label != hosttest.Label("/etc/new.conf") {
		t.Errorf("expected the label of the policy, got %+v and %v", found, err)
	}
	w.agent.changed = true // setting a label is a change that the watch of files sees
	w.run(time.Hour)
	if r := w.report(); len(r.Drift) > 0 || strings.Contains(r.Message, "SELinux") || w.did("restorecon") != 1 {
		t.Errorf("expected neither drift nor a note nor another call, got %+v and %q", r, w.Calls)
	}
}

func TestAMissingRestoreconIsReportedAndBlocksNothing(t *testing.T) {
	w := newWorld(t)
	w.Confine(t)
	must(t, w.FS.Remove(hosttest.Restorecon))
	w.order(labelled(), restartsCrio)
	w.run(time.Minute)
	w.expect(machineorder.StateDone, "rendered-labels", machineorder.PhaseDone)
	if r := w.report(); !strings.Contains(r.Message, "run restorecon for /etc/new.conf") {
		t.Errorf("expected the report to say what to do, got %+v", r)
	}
}
