// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"maps"
	"strings"
	"testing"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

func TestWithoutEvidenceNoNodeIsMarked(t *testing.T) {
	for name, answers := range map[string]map[Role]string{
		"the fence command lies and the power is on":     {Power1: "on"},
		"the power status prints nothing":                {Power1: ""},
		"the power status prints more than off":          {Power1: "off\nwarning: old firmware"},
		"the power status prints it in capitals":         {Power1: "OFF"},
		"the power comes back":                           {Power2: "on"},
		"a peer gets an answer":                          {Peer1: "answer from 10.0.0.1"},
		"a peer cannot reach anything":                   {Peer2: "unknown: this host cannot reach 10.0.0.2 either"},
		"a peer prints nothing":                          {Peer2: ""},
		"a peer prints the text of the other command":    {Peer2: "off"},
		"the power status prints the text of the peers ": {Power2: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			maps.Copy(w.answers, answers)
			v := w.run(10 * time.Minute)
			if Fenced(w.node("n1")) || len(w.node("n1").Spec.Taints) > 0 {
				t.Fatalf("expected no taint, got %v", w.node("n1").Spec.Taints)
			}
			if v.Record.Phase != nodesv1.RemediationFailed || v.Record.Attempt != 3 || w.attempts() != 3 || !strings.Contains(v.Record.Message, "after attempt 3 of 3") {
				t.Errorf("expected the remediation to fail after three attempts, got %d attempts and %+v", w.attempts(), v.Record)
			}
			w.pool.Spec.Remediation.MaxAttempts = new(int32(4))
			if w.run(2 * time.Minute); w.attempts() != 4 {
				t.Errorf("expected another attempt when the user allows it, got %d", w.attempts())
			}
		})
	}
}

func TestTheStateOfACommandThatPrintedOffMatters(t *testing.T) {
	for _, state := range []egov1.State{egov1.StateFailed, egov1.StateTimedOut, egov1.StateUnknown, egov1.StateUnreachable, egov1.StateCancelled} {
		w := newWorld(t)
		w.step()
		w.work()
		w.step()
		for name, a := range w.runs {
			if strings.HasSuffix(name, string(Power1)) {
				a.Status.Output = "off"
				w.end(a, state)
			}
		}
		if v := w.step(); v.Record.AttemptFailedAt == nil {
			t.Errorf("%s: expected the attempt to fail, got %+v", state, v.Record)
		}
	}
}

func TestTheExitCodeOfTheFenceCommandDecidesNothing(t *testing.T) {
	w := newWorld(t)
	w.step()
	for _, a := range w.runs {
		w.end(a, egov1.StateFailed)
	}
	if v := w.run(time.Minute); v.Record.Phase != nodesv1.RemediationFenced {
		t.Errorf("expected the evidence to decide, got %+v", v.Record)
	}
}

func TestARefusedFenceCommandEndsTheAttempt(t *testing.T) {
	w := newWorld(t)
	w.step()
	for _, a := range w.runs {
		w.end(a, egov1.StateRefused)
	}
	if v := w.step(); v.Record.AttemptFailedAt == nil || len(w.runs) != 1 || !strings.Contains(v.Record.Message, "lacks a right") {
		t.Errorf("expected the attempt to end, got %+v", v.Record)
	}
}

func TestTheTwoPowerStatusCommandsAreTenSecondsApart(t *testing.T) {
	w := newWorld(t)
	var asked []time.Time
	for range 60 {
		for _, run := range w.step().Create {
			if run.Role == Power1 || run.Role == Power2 {
				asked = append(asked, w.now)
			}
		}
		w.work()
		w.now = w.now.Add(time.Second)
	}
	if len(asked) != 2 || asked[1].Sub(asked[0]) < powerInterval {
		t.Errorf("expected two commands ten seconds apart, got %v", asked)
	}
}

func TestOldEvidenceDoesNotCount(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		w.step()
		w.work()
		w.now = w.now.Add(15 * time.Second)
	}
	w.step()
	w.work()
	w.now = w.now.Add(10 * time.Minute) // the operator was down
	if v := w.step(); v.Record.Phase == nodesv1.RemediationFenced || !strings.Contains(v.Record.Message, "older than 5m") {
		t.Errorf("expected old evidence to be refused, got %+v", v.Record)
	}
}

// Another client can know the names of the Activities, and create one of them first.
func TestAForgedActivityIsNoEvidence(t *testing.T) {
	for name, forge := range map[string]func(a *egov1.Activity){
		"another command":    func(a *egov1.Activity) { a.Spec.Command = "echo off" },
		"another variable":   func(a *egov1.Activity) { a.Spec.Envs = append(a.Spec.Envs, "PATH=/tmp") },
		"another user":       func(a *egov1.Activity) { a.Spec.ExecUser = "guest" },
		"another requester":  func(a *egov1.Activity) { a.Spec.Requester = &egov1.Requester{Username: "eve"} },
		"a second run of it": func(a *egov1.Activity) { a.Spec.Run = new(int64(2)) },
		"the dead node":      func(a *egov1.Activity) { a.Spec.Host = "n1" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.step()
			w.work()
			in := w.input()
			run := Run{Name: in.activityName(1, Power1), Role: Power1, Host: "n2"}
			w.create(in, run)
			forge(w.runs[run.Name])
			w.work()
			if v := w.step(); v.Record.AttemptFailedAt == nil || !strings.Contains(v.Record.Message, "not the one that spec.remediation describes") {
				t.Errorf("expected the attempt to fail, got %+v", v.Record)
			}
		})
	}
}

func TestADeletedActivityIsNotCreatedAgain(t *testing.T) {
	w := newWorld(t)
	w.step()
	w.step() // the record names the fence command
	clear(w.runs)
	if v := w.step(); v.Record.AttemptFailedAt == nil || len(w.runs) != 0 {
		t.Errorf("expected the attempt to fail instead of a second fence command, got %+v", v.Record)
	}
}
