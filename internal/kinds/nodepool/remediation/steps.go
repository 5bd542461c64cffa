// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// run returns the Activity of a role in the current attempt; nil if it does not exist.
func (in *Input) run(role Role) *egov1.Activity {
	return in.Runs[in.activityName(in.attempt(), role)]
}

// existing returns the names of the Activities of the current attempt.
func (in *Input) existing() []string {
	var names []string
	for _, role := range roles {
		if a := in.run(role); a != nil {
			names = append(names, a.Name)
		}
	}
	return names
}

// Recorded returns the names of the Activities that a record names and that must therefore exist.
func Recorded(r *nodesv1.NodeRemediation) []string {
	if r == nil || r.AttemptFailedAt != nil || r.Phase == nodesv1.RemediationFenced {
		return nil
	}
	return r.Activities
}

// over reports whether an Activity has ended.
func over(a *egov1.Activity) bool {
	switch a.Status.Prosta {
	case "", egov1.StatePending, egov1.StateRunning:
		return false
	}
	return true
}

func endedAt(a *egov1.Activity) time.Time {
	if a.Status.EndedAt == nil {
		return time.Time{}
	}
	return a.Status.EndedAt.Time
}

// printed returns what a command printed. It is empty unless the command ended with exit code 0.
func printed(a *egov1.Activity) string {
	if a.Status.Prosta != egov1.StateSucceeded || a.Status.OutputTruncated {
		return ""
	}
	return strings.TrimSpace(a.Status.Output)
}

// outcome describes how an Activity ended, for messages.
func outcome(a *egov1.Activity) string {
	text := fmt.Sprintf("Activity %s on %s ended as %s", a.Name, a.Spec.Host, a.Status.Prosta)
	if out := strings.TrimSpace(a.Status.Output); out != "" {
		text += fmt.Sprintf(" and printed %q", condition.Cut(out, 100))
	}
	return text
}

// progress returns the verdict while an attempt continues.
func (in *Input) progress(phase nodesv1.RemediationPhase, message string) *Verdict {
	r := in.record(phase, message)
	r.Attempt, r.AttemptFailedAt, r.Activities, r.Evidence = in.attempt(), nil, in.existing(), nil
	v := &Verdict{Record: r}
	for _, role := range roles {
		if a := in.run(role); a != nil && !over(a) {
			v.Again = max(time.Second, in.timeLeft(a))
		}
	}
	return v
}

// timeLeft returns how long a command may still take: until its host must have started and ended it, and a minute.
func (in *Input) timeLeft(a *egov1.Activity) time.Duration {
	limit := time.Duration(ptr.Deref(a.Spec.StartDeadlineSeconds, startSeconds)+ptr.Deref(a.Spec.TimeoutSeconds, probeSeconds)) * time.Second
	return a.CreationTimestamp.Add(limit + time.Minute).Sub(in.Now)
}

// fail returns the verdict when an attempt has failed.
func (in *Input) fail(message string) *Verdict {
	v := in.progress(nodesv1.RemediationWaiting, message)
	failed := metav1.NewTime(in.Now.Truncate(time.Second))
	v.Record.AttemptFailedAt, v.Again = &failed, pause(in.Pool.Spec)
	return v
}

// ask returns the verdict when Activities are missing: it creates them, unless one of them existed and was deleted.
func (in *Input) ask(phase nodesv1.RemediationPhase, message string, missing ...Role) *Verdict {
	v := in.progress(phase, message)
	for _, role := range missing {
		name := in.activityName(in.attempt(), role)
		if slices.Contains(Recorded(in.Record), name) {
			return in.fail("Activity " + name + " was deleted before its result was used")
		}
		host := in.hostFor(role)
		if host == nil {
			return in.held(held, "no node can run the command of Activity "+name+"; opcrew waits for a Ready node that fits onNodes")
		}
		v.Create = append(v.Create, Run{Name: name, Role: role, Host: host.Name})
	}
	return v
}

// attemptIsForged: another client can create an Activity with a name that opcrew uses. Its result counts only if it runs
// what opcrew would run, for the same requester.
func attemptIsForged(in *Input) *Verdict {
	for _, role := range roles {
		if a := in.run(role); a != nil && !in.genuine(a, role) {
			return in.fail("Activity " + a.Name + " is not the one that spec.remediation describes: the spec changed, or another client created the Activity")
		}
	}
	return nil
}

// commandHangs: the host of a command that does not end may be dead, too.
func commandHangs(in *Input) *Verdict {
	for _, role := range roles {
		if a := in.run(role); a != nil && !over(a) && in.timeLeft(a) <= 0 {
			return in.fail("Activity " + a.Name + " on " + a.Spec.Host + " has not ended within its time")
		}
	}
	return nil
}

func fenceRuns(in *Input) *Verdict {
	switch a := in.run(Fence); {
	case a == nil:
		return in.ask(nodesv1.RemediationFencing, "opcrew starts the fence command", Fence)
	case !over(a):
		return in.progress(nodesv1.RemediationFencing, "the fence command runs on "+a.Spec.Host)
	}
	return nil
}

// fenceIsRefused: no command of this requester can run.
func fenceIsRefused(in *Input) *Verdict {
	if a := in.run(Fence); a.Status.Prosta == egov1.StateRefused {
		return in.fail(outcome(a) + ", because the user who set spec.remediation lacks a right; the Activity names it")
	}
	return nil
}

func powerIsAsked(in *Input) *Verdict {
	switch a := in.run(Power1); {
	case a == nil:
		return in.ask(nodesv1.RemediationVerifying, "opcrew asks whether the machine is off", Power1)
	case !over(a):
		return in.progress(nodesv1.RemediationVerifying, "the powerStatus command runs on "+a.Spec.Host)
	}
	return nil
}

func machineHasPower(in *Input) *Verdict { return in.notOff(Power1) }

func (in *Input) notOff(role Role) *Verdict {
	if a := in.run(role); printed(a) != "off" {
		return in.fail(outcome(a) + "; powerStatus must print off, so there is no evidence that the machine is off")
	}
	return nil
}

// powerIsAskedAgain asks the peers at the same time.
func powerIsAskedAgain(in *Input) *Verdict {
	const message = "powerStatus printed off; opcrew asks again, and whether the machine answers two other hosts"
	var missing []Role
	running := false
	for _, role := range []Role{Power2, Peer1, Peer2} {
		switch a := in.run(role); {
		case a == nil:
			missing = append(missing, role)
		case !over(a):
			running = true
		}
	}
	// Times have a resolution of one second, so wait somewhat longer than required.
	if left := endedAt(in.run(Power1)).Add(powerInterval + 2*time.Second).Sub(in.Now); left > 0 {
		v := in.progress(nodesv1.RemediationVerifying, message)
		v.Again = max(time.Second, left)
		return v
	}
	switch {
	case len(missing) > 0:
		return in.ask(nodesv1.RemediationVerifying, message, missing...)
	case running:
		return in.progress(nodesv1.RemediationVerifying, message)
	}
	return nil
}

func powerReturned(in *Input) *Verdict {
	first, second := in.run(Power1), in.run(Power2)
	if second.CreationTimestamp.Sub(endedAt(first)) < powerInterval {
		return in.fail("the two powerStatus commands ran within " + powerInterval.String())
	}
	return in.notOff(Power2)
}

func peersHeard(in *Input) *Verdict {
	one, two := in.run(Peer1), in.run(Peer2)
	if one.Spec.Host == two.Spec.Host || one.Spec.Host == in.Node.Name || two.Spec.Host == in.Node.Name {
		return in.fail("the peers are not two other hosts")
	}
	for _, a := range []*egov1.Activity{one, two} {
		if printed(a) != noAnswer {
			return in.fail(outcome(a) + "; both peers must get no answer from the machine, so it may still run")
		}
	}
	return nil
}

func evidenceIsOld(in *Input) *Verdict {
	if in.Now.Sub(endedAt(in.run(Power1))) > evidenceAge {
		return in.fail("the evidence of the attempt is older than " + evidenceAge.String())
	}
	return nil
}

// evidence returns how opcrew knows that the machine is off.
func (in *Input) evidence() []string {
	var out []string
	for _, role := range []Role{Power1, Power2, Peer1, Peer2} {
		a := in.run(role)
		what := "powerStatus printed off"
		if role == Peer1 || role == Peer2 {
			what = "no answer"
		}
		out = append(out, fmt.Sprintf("%s: %s on %s (Activity %s)", endedAt(a).UTC().Format(time.RFC3339), what, a.Spec.Host, a.Name))
	}
	return out
}
