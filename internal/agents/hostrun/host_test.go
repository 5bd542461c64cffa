// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/hostrun/markers"
	"github.com/opcrew/opcrew/internal/agents/hostrun/tree"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

func TestARunThatWasStartedBeforeIsNotStartedAgain(t *testing.T) {
	const stored = `{"state":"Failed","reason":"Exited","exitCode":7,"tail":"boom","bytes":4,"bootID":"then"}`
	begun := `{"created":"2026-05-01T08:00:00Z","started":"2026-05-01T08:00:05Z","bootID":"then"}`
	for _, test := range []struct{ name, marker, result, boot, state, message string }{
		{"with a result", begun, stored, "now", "Failed", ""},
		{"with a result and a damaged marker", "", stored, "now", "Failed", ""},
		{"without a result", begun, "", "then", "Unknown", "run 1 was started at 2026-05-01T08:00:05Z and left no result; the host has not rebooted since"},
		{"without a result, before a reboot", begun, "", "now", "Unknown", "the host has rebooted since"},
		{"with an empty marker", "", "", "now", "Unknown", "started earlier and left no result; it is unknown whether the host has rebooted since"},
		{"with a damaged result", begun, `{"state":`, "now", "Unknown", "is damaged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, m := place(t)
			must(t, os.WriteFile(filepath.Join(dir, "u-1"), []byte(test.marker), 0o600))
			if test.result != "" {
				must(t, os.WriteFile(filepath.Join(dir, "u-1"+markers.ResultSuffix), []byte(test.result), 0o600))
			}
			h := &host{ledger: m, boot: test.boot, work: work{Order: hostjob.NewOrder("u", 1, morning())}}
			r := h.earlier()
			if r == nil || string(r.State) != test.state || !strings.Contains(r.Message, test.message) {
				t.Fatalf("expected %s and %q, got %+v", test.state, test.message, r)
			}
			if r.Again != (r.State == hostjob.Failed) || r.Again && (*r.ExitCode != 7 || r.Tail != "boom") {
				t.Errorf("expected the stored result again, got %+v", r)
			}
		})
	}
}

func TestALateStartOnAHostWithoutAnyMarkerIsRefused(t *testing.T) {
	late, early := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	for _, test := range []struct {
		name   string
		before time.Time
		boot   string
		files  []string
		begins bool
	}{
		{"late, on another boot", late, "then", nil, false},
		{"beside a file that is no run", late, "then", []string{"lost+found"}, false},
		{"on a host that remembers another run", late, "then", []string{"other-1"}, true},
		{"or its result alone", late, "then", []string{"other-1" + markers.ResultSuffix}, true},
		{"on the same boot", late, "now", nil, true},
		{"with an unknown boot in the order", late, "", nil, true},
		{"in time", early, "then", nil, true},
		{"without a deadline", time.Time{}, "then", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, m := place(t)
			for _, name := range test.files {
				must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			}
			h := &host{ledger: m, boot: "now", work: work{Order: hostjob.NewOrder("u", 1, morning())}}
			h.Order.BeginBefore, h.Order.BootID = test.before, test.boot
			r := h.forgotten()
			if (r == nil) != test.begins || r != nil && (r.State != hostjob.Unknown || !strings.Contains(r.Message, "has no record of any run")) {
				t.Errorf("expected the run to start: %t, got %+v", test.begins, r)
			}
		})
	}
}

func TestALateOrderThatIsRefusedLeavesNoMarkerAndRunsNothing(t *testing.T) {
	p := newPod(t)
	p.order.BeginBefore, p.order.BootID = time.Now().Add(-time.Minute), "another"
	p.expect(p.run("echo >> ran"), hostjob.Unknown, hostjob.ReasonNoResult, "so it is not started now")
	if p.times("ran") != 0 {
		t.Error("expected the command not to run")
	}
	p.order.BeginBefore = time.Time{}
	p.expect(p.run("echo >> ran"), hostjob.Succeeded, hostjob.ReasonExited, "")
}

func TestAResultDescribesHowTheCommandEnded(t *testing.T) {
	exited := func(code int) *tree.Exit { return &tree.Exit{Status: syscall.WaitStatus(code << 8), At: morning()} }
	killed := func(signal syscall.Signal) *tree.Exit {
		return &tree.Exit{Status: syscall.WaitStatus(signal), At: morning()}
	}
	for _, test := range []struct {
		why     cause
		end     ending
		state   hostjob.State
		reason  string
		message string
	}{
		{byExit, ending{exit: exited(0)}, hostjob.Succeeded, hostjob.ReasonExited, "exited with code 0"},
		{byExit, ending{exit: exited(137)}, hostjob.Failed, hostjob.ReasonExited, "exited with code 137"},
		{byExit, ending{exit: killed(syscall.SIGKILL)}, hostjob.Failed, hostjob.ReasonSignaled, "was killed by SIGKILL"},
		{byExit, ending{exit: killed(40)}, hostjob.Failed, hostjob.ReasonSignaled, "was killed by SIG40"},
		{byExit, ending{exit: exited(0), found: 2}, hostjob.Succeeded, hostjob.ReasonExited, "exited with code 0; it left behind 2 processes, which were killed"},
		{byExit, ending{exit: exited(0), found: 2, left: 1}, hostjob.Succeeded, hostjob.ReasonExited, "exited with code 0; it left behind 2 processes, which were killed; 1 processes could not be killed"},
		{byCancel, ending{exit: killed(syscall.SIGTERM), found: 1}, hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled, and the command was killed by SIGTERM"},
		{byCancel, ending{exit: exited(0), found: 1}, hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled, and the command exited with code 0"},
		{byTimeout, ending{found: 1, left: 1}, hostjob.TimedOut, hostjob.ReasonDeadline, "the run exceeded its time limit, and the command could not be killed; 1 processes could not be killed"},
		{byLoss, ending{exit: killed(syscall.SIGKILL), found: 1}, hostjob.Failed, hostjob.ReasonRunnerLost, "the runner process in the pod was killed, and the command was killed by SIGKILL"},
	} {
		var r hostjob.Result
		conclude(&r, test.why, test.end)
		if r.State != test.state || r.Reason != test.reason || r.Message != test.message || (r.ExitCode == nil) == (r.Signal == "") && test.end.exit != nil {
			t.Errorf("expected %s, %s, %q, got %+v", test.state, test.reason, test.message, r)
		}
		if r.EndedAt.IsZero() || test.end.exit != nil && !r.EndedAt.Equal(morning()) {
			t.Errorf("%s: expected the time of the end, got %s", r.Message, r.EndedAt)
		}
	}
}
