// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package decide

import (
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Wanted returns the annotations of the Node that the agent should write now, without those that stay as they are. A
// change without a drain is first reported when it is complete.
func Wanted(in *Input) map[string]string {
	switch {
	case in.Broken != "":
		return in.trouble(machineorder.StateDegraded, machineorder.PhaseFailed, in.Broken)
	case in.Problem != "":
		return in.trouble(machineorder.StateUnreconcilable, machineorder.PhaseRefused, in.Problem)
	case in.Order == nil || in.Trial != nil:
		return nil
	case in.settled():
		return in.result()
	case in.refusal() != "":
		return in.trouble(machineorder.StateUnreconcilable, machineorder.PhaseRefused, in.refusal())
	case in.checked() != nil && in.Order.Drains() && !in.drained():
		out := in.annotations(machineorder.StateWorking, machineorder.Report{Config: in.Order.Config, Phase: machineorder.PhaseDrain})
		out[machineorder.DesiredDrain] = machineorder.Drain(in.Order.Config)
		return out
	}
	return nil
}

// trouble reports why the agent does not carry out an order.
func (in *Input) trouble(state string, phase machineorder.Phase, message string) map[string]string {
	r := machineorder.Report{Config: in.subject(), Phase: phase}
	r.SetMessage(message)
	return in.annotations(state, r)
}

// subject returns the configuration that a report about an unreadable order is about.
func (in *Input) subject() string {
	if in.Order != nil {
		return in.Order.Config
	}
	return in.Annotations[machineorder.DesiredConfig]
}

// result reports the result of the order.
func (in *Input) result() map[string]string {
	j := in.Journal
	r := machineorder.Report{Config: j.Order.Config, RevertedTo: j.RevertedTo, BootID: j.BootID}
	r.SetMessage(j.Message)
	switch j.Outcome {
	case journal.Reverted:
		r.Phase = machineorder.PhaseReverted
		out := in.annotations(machineorder.StateDegraded, r)
		out[machineorder.CurrentConfig] = j.RevertedTo
		return out
	case journal.Failed:
		r.Phase = machineorder.PhaseFailed
		return in.annotations(machineorder.StateDegraded, r)
	}
	r.Phase = machineorder.PhaseDone
	out := in.annotations(machineorder.StateDone, r)
	out[machineorder.CurrentConfig] = j.Order.Config
	// Without a drain there is nothing to undo, and the operator need not answer.
	if strings.HasPrefix(in.Annotations[machineorder.DesiredDrain], machineorder.DrainPrefix) {
		out[machineorder.DesiredDrain] = machineorder.Uncordon(j.Order.Config)
	}
	return out
}

// annotations returns the state, its reason, and the report. A report that cannot be encoded, because the name of the
// configuration is invalid, is left out.
func (in *Input) annotations(state string, r machineorder.Report) map[string]string {
	out := map[string]string{machineorder.State: state, machineorder.Reason: ""}
	if state != machineorder.StateDone {
		out[machineorder.Reason] = r.Message
	}
	in.setDrift(&r)
	if text, err := machineorder.EncodeReport(r); err == nil {
		out[machineorder.ReportAnnotation] = text
	}
	return out
}

// setDrift keeps the drift of an earlier process until the first scan, so that a restart causes no write.
func (in *Input) setDrift(r *machineorder.Report) {
	r.SetDrift(in.Drift)
	if !in.Managed || in.Scanned != nil {
		return
	}
	if old, err := machineorder.ParseReport(in.Annotations[machineorder.ReportAnnotation]); err == nil {
		r.Drift, r.MoreDrift = old.Drift, old.MoreDrift
	}
}
