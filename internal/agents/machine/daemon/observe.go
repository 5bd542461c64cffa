// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// observe reads what a decision depends on.
func (a *Agent) observe() decide.Input {
	in := decide.Input{
		Annotations: a.Cluster.Annotations(), Unreachable: a.held[reportKey].until > a.now.Uptime, Uptime: a.now.Uptime,
		Check: a.check, Scanned: a.scanned, Changed: a.changed, Drift: a.drift,
	}
	if text, found := in.Annotations[machineorder.OrderAnnotation]; found {
		readOrder(&in, text)
	}
	if err := a.readState(&in); err != nil {
		in.Broken = err.Error()
	}
	if !in.Managed {
		in.Drift = nil
	}
	return in
}

// readOrder checks also that the order is the one that the operator announced in the annotation of the original.
func readOrder(in *decide.Input, text string) {
	order, err := machineorder.ParseOrder(text)
	desired := in.Annotations[machineorder.DesiredConfig]
	switch {
	case err != nil:
		in.Problem = err.Error()
	case desired != "" && desired != order.Config:
		in.Problem = fmt.Sprintf("the order is for %s, but the annotation desiredConfig is %s", order.Config, desired)
	default:
		in.Order = &order
	}
}

// readState reads the agent's own state on the host.
func (a *Agent) readState(in *decide.Input) error {
	l, err := a.Host.Store.Load()
	if err != nil {
		return err
	}
	in.Managed = len(l.Records) > 0
	if in.Journal, err = a.Journal.Load(); err != nil {
		return err
	}
	state, found, err := a.Trial.Load()
	if found {
		in.Trial = &state
	}
	return err
}

// report writes annotations of the Node.
func (a *Agent) report(ctx context.Context, write map[string]string) error {
	if err := a.Cluster.Write(ctx, write); err != nil {
		return err
	}
	a.Log.Info("Reported", "state", write[machineorder.State], "currentConfig", write[machineorder.CurrentConfig],
		"desiredDrain", write[machineorder.DesiredDrain], "reason", write[machineorder.Reason])
	return nil
}
