// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// rule returns a verdict, or nil if the next rule decides.
type rule func(*Input) *Verdict

// ends are the rules about a remediation that is over or not due. They do not look at the cluster, which is not read
// before the remediation is due. holds are the rules that stop it in any phase.
// begins are the rules that must allow the beginning of an attempt. steps are the steps of an attempt.
var (
	ends = []rule{
		machineAnswers, nodeIsReady, machineIsFenced, noAttemptIsLeft, nodeIsYoung,
	}
	holds = []rule{
		poolIsPaused, nodeIsPaused, bootIsUnknown, othersCareForIt, notAllowed, mostNodesAreDown, leasesAreStale, kubeletIsAlive,
	}
	begins = []rule{
		attemptPauses, rolloutWorks, controlPlaneIsBusy, tooFewAreHealthy, fencingLies, nodeFencesAnother, noHostIsLeft,
	}
	steps = []rule{
		attemptIsForged, commandHangs, fenceRuns, fenceIsRefused, powerIsAsked, machineHasPower, powerIsAskedAgain, powerReturned, peersHeard, evidenceIsOld,
	}
)

// Decide returns what becomes of a node.
func Decide(in *Input) *Verdict {
	order := [][]rule{ends, holds, begins, steps}
	if in.underway() {
		order = [][]rule{ends, holds, steps}
	}
	for _, rules := range order {
		for _, r := range rules {
			if v := r(in); v != nil {
				return v
			}
		}
	}
	return in.fenced()
}

// underway reports whether an attempt has begun and has neither failed nor succeeded. The Activity decides, because a
// crash can have prevented the record.
func (in *Input) underway() bool {
	if in.Record != nil && in.Record.Attempt > 0 && in.Record.AttemptFailedAt == nil {
		return true
	}
	return in.run(Fence) != nil
}

// attempt returns the number of the current attempt, or of the next one if the last one has failed.
func (in *Input) attempt() int32 {
	switch {
	case in.Record == nil:
		return 1
	case in.Record.AttemptFailedAt != nil:
		return in.Record.Attempt + 1
	}
	return max(1, in.Record.Attempt)
}

// record returns the record of the outage, in a phase and with a message.
func (in *Input) record(phase nodesv1.RemediationPhase, message string) *nodesv1.NodeRemediation {
	_, since := Ready(in.Node)
	out := &nodesv1.NodeRemediation{
		Node: in.Node.Name, UID: in.Node.UID, BootID: in.Node.Status.NodeInfo.BootID, Since: metav1.NewTime(since.Truncate(time.Second)),
	}
	if in.Record != nil {
		out = in.Record.DeepCopy()
	}
	out.Phase, out.Message = phase, message
	return out
}

// held returns the verdict of a safety rule. The phase stays as it is.
func (in *Input) held(reason, message string) *Verdict {
	phase := nodesv1.RemediationWaiting
	if in.Record != nil {
		phase = cmp.Or(in.Record.Phase, phase)
	}
	return &Verdict{Record: in.record(phase, message), Held: &Obstacle{reason, message}, Again: lookInterval}
}

// waits returns the verdict about a node whose remediation is not due.
func (in *Input) waits(message string, again time.Duration) *Verdict {
	return &Verdict{Record: in.record(nodesv1.RemediationWaiting, message), Again: max(time.Second, again)}
}

// machineAnswers: the machine runs although there was evidence that it was off.
func machineAnswers(in *Input) *Verdict {
	mark, fenced := markOf(in.Node)
	if !fenced || mark != answered+bootMark(in.Node) && (mark != bootMark(in.Node) || !reports(in.Node)) {
		return nil
	}
	r := in.record(nodesv1.RemediationFailed, "the machine answers again and was not restarted, so the fence or powerStatus command reports something false, "+
		"and pods may have run twice: check their data, then restart the machine, or remove the taint "+nodesv1.FencedTaint+"; until then no machine of the pool is fenced")
	return &Verdict{Record: r}
}

// nodeIsReady: nothing is to be done.
func nodeIsReady(in *Input) *Verdict {
	if isReady(in.Node) || in.Node.DeletionTimestamp != nil {
		return &Verdict{}
	}
	return nil
}

// machineIsFenced: the evidence is complete, until the machine returns.
func machineIsFenced(in *Input) *Verdict {
	mark, fenced := markOf(in.Node)
	if fenced && mark == bootMark(in.Node) || in.Record != nil && in.Record.Phase == nodesv1.RemediationFenced {
		return &Verdict{Record: in.record(nodesv1.RemediationFenced, "the machine is off; opcrew waits until it was restarted")}
	}
	return nil
}

// noAttemptIsLeft: a user has to help.
func noAttemptIsLeft(in *Input) *Verdict {
	if in.Record == nil || in.Record.AttemptFailedAt == nil || in.Record.Attempt < attempts(in.Pool.Spec) {
		return nil
	}
	last := in.Record.Message
	if in.Record.Phase != nodesv1.RemediationFailed {
		last = fmt.Sprintf("after attempt %d of %d %s; check the machine and the commands in spec.remediation, then restart the machine, or raise spec.remediation.maxAttempts",
			in.Record.Attempt, attempts(in.Pool.Spec), in.Record.Message)
	}
	return &Verdict{Record: in.record(nodesv1.RemediationFailed, last)}
}

// fenced returns the verdict when all evidence is there.
func (in *Input) fenced() *Verdict {
	r := in.record(nodesv1.RemediationFenced, "the machine is off; opcrew waits until it was restarted")
	r.Attempt, r.Activities, r.Evidence = in.attempt(), in.existing(), in.evidence()
	r.AttemptFailedAt = nil
	return &Verdict{Record: r}
}
