// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// act carries out the actions of an order, apart from drain and reboot, and returns what it left out. A revert goes on
// after a failure, because a later action may bring the contacts back.
func (a *Agent) act(ctx context.Context, actions []machineorder.Action, reverting bool) (left []string, err error) {
	for _, action := range actions {
		note, failure := carryOut(ctx, a.Host.Units, action)
		if note != "" {
			left = append(left, note)
		}
		if failure == nil {
			continue
		}
		err = errors.Join(err, fmt.Errorf("%s %s: %w", action.Type, action.Unit, failure))
		if !reverting {
			break
		}
	}
	return left, err
}

func carryOut(ctx context.Context, manager units.Manager, action machineorder.Action) (note string, err error) {
	switch action.Type {
	case machineorder.ActionDaemonReload:
		return "", manager.DaemonReload(ctx)
	case machineorder.ActionReload, machineorder.ActionRestart:
		return carryOutUnit(ctx, manager, action)
	}
	return "", nil
}

// carryOutUnit leaves out what systemd cannot do. A list of actions is for many hosts, not all of which have each unit.
// A unit without a file, for example after a revert, can only be stopped.
func carryOutUnit(ctx context.Context, manager units.Manager, action machineorder.Action) (note string, err error) {
	s, err := manager.Service(ctx, action.Unit)
	switch {
	case err != nil:
		return "", err
	case !s.CanStart() && s.Runs():
		return fmt.Sprintf("%s was stopped, because it is %s", action.Unit, s.Load), manager.Stop(ctx, action.Unit)
	case !s.CanStart() && s.Failed():
		return fmt.Sprintf("%s failed, and is %s now", action.Unit, s.Load), manager.ResetFailed(ctx, action.Unit)
	case !s.CanStart():
		return fmt.Sprintf("%s of %s was left out, because it is %s", action.Type, action.Unit, s.Load), nil
	case action.Type == machineorder.ActionRestart:
		return "", manager.Restart(ctx, action.Unit)
	case !s.Runs():
		return fmt.Sprintf("Reload of %s was left out, because it does not run", action.Unit), nil
	}
	return "", manager.Reload(ctx, action.Unit)
}
