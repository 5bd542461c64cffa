// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/sshrun/script"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// wantGone checks that a process whose number a file contains has ended.
func (j *job) wantGone(file string) {
	j.Helper()
	pid := j.machine.pid(file)
	for range 40 {
		if state, err := os.ReadFile("/proc/" + strings.TrimSpace(j.machine.text(file)) + "/stat"); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	j.Errorf("expected process %d to be ended", pid)
}

func (m *machine) text(file string) string {
	text, _ := os.ReadFile(m.file(file))
	return string(text)
}

func TestACancelEndsTheProcessesOfTheCommand(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "sleep 1000 & echo $! > "+m.file("child")+"; wait")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { j.await("child"); cancel() }()
	r := j.runUntil(ctx)
	j.want(r, hostjob.Cancelled, hostjob.ReasonPodEnded, "the command exited with code 143")
	j.wantGone("child")
}

func TestACommandThatIgnoresSIGTERMIsKilledAfterItsGracePeriod(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "trap '' TERM; echo $$ > "+m.file("child")+"; while :; do sleep 1; done")
	j.order.TimeoutSeconds, j.order.GraceSeconds = 1, 1
	r := j.run()
	j.want(r, hostjob.TimedOut, hostjob.ReasonDeadline, "the command exited with code 137")
	j.wantGone("child")
}

func TestACancelBeforeTheConnectionStartsNothing(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran"))
	j.order.SSH.ConnectBefore = time.Now().Add(time.Minute)
	m.cut()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	j.want(j.runUntil(ctx), hostjob.Cancelled, hostjob.ReasonPodEnded, "before the command was started")
	j.ran(0)
}

func TestAResultIsReadOverAnotherConnectionIfTheFirstIsLost(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran")+"; sleep 2; exit 6")
	go func() {
		j.await("ran")
		m.cut()
		m.again()
	}()
	r := j.run()
	j.want(r, hostjob.Failed, hostjob.ReasonExited, "exited with code 6", "later")
	j.ran(1)
}

func TestARunIsUnknownIfTheMachineDoesNotComeBack(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran")+"; sleep 2")
	go func() { j.await("ran"); m.cut() }()
	r := j.run()
	j.want(r, hostjob.Unknown, hostjob.ReasonConnection, "the connection was lost", "not run again")
	j.ran(1)
	time.Sleep(2 * time.Second) // the command ends
	m.again()
	j.want(j.run(), hostjob.Succeeded, hostjob.ReasonExited, "later")
	j.ran(1)
}

func TestACancelReachesTheCommandOverAnotherConnection(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo $$ > "+m.file("child")+"; sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		j.await("child")
		m.cut()
		m.again()
		time.Sleep(300 * time.Millisecond)
		cancel()
	}()
	j.want(j.runUntil(ctx), hostjob.Cancelled, hostjob.ReasonPodEnded, "exited with code 143")
	j.wantGone("child")
}

// A machine that was restarted has the marker, and no process that could still store a result.
func TestAMarkerWithoutAResultIsNeverRunAgain(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran")+"; kill -9 $PPID; sleep 1")
	j.want(j.run(), hostjob.Unknown, hostjob.ReasonNoResult, "left no result")
	j.want(j.run(), hostjob.Unknown, hostjob.ReasonNoResult, "not run again")
	j.ran(1)
}

func TestARunDoesNotStartLongAfterItsDeadline(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran"))
	j.order.SSH.ConnectBefore = time.Now().Add(-time.Hour)
	j.want(j.run(), hostjob.Unknown, hostjob.ReasonNoResult, "had to start before", "no record")
	j.ran(0)
}

// A script of which the last line is missing executes nothing, wherever it ends.
func TestAScriptThatArrivesInPartExecutesNothing(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran"))
	whole := strings.TrimSuffix(script.Script{Order: j.order, Word: "word"}.Run(), "\n")
	for length := 0; length < len(whole); length += 19 {
		cmd := m.command(script.Line)
		cmd.Stdin = strings.NewReader(whole[:length])
		_ = cmd.Run() // the shell complains about the syntax
	}
	j.ran(0)
	if _, err := os.Stat(m.file(".local")); err == nil {
		t.Error("expected no marker")
	}
	cmd := m.command(script.Line)
	cmd.Stdin = strings.NewReader(whole)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("expected the whole script to run, got %v: %s", err, out)
	}
	j.ran(1)
}
