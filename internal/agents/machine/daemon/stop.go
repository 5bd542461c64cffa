// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"fmt"
	"reflect"

	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// stopReplaced stops the units that a change removes or replaces and restarts. systemd stops a unit as its present file
// says (ExecStop); after the change it would not know how to undo what the old file had started.
func (a *Agent) stopReplaced(ctx context.Context, s trial.State, actions []machineorder.Action) (notes []string, err error) {
	had, err := a.config(s.Source())
	if err != nil {
		return nil, err
	}
	gets, err := a.config(s.Target())
	if err != nil {
		return nil, err
	}
	for _, name := range replaced(had, gets, actions) {
		if err := stopUnit(ctx, a.Host.Units, name); err != nil && !s.Reverting {
			return nil, fmt.Errorf("stop %s: %w", name, err)
		} else if err != nil { // a revert goes as far as it can
			notes = append(notes, fmt.Sprintf("%s was not stopped: %v", name, err))
		}
	}
	return notes, nil
}

func stopUnit(ctx context.Context, manager units.Manager, name string) error {
	s, err := manager.Service(ctx, name)
	if err != nil || !s.CanStart() || !s.Runs() {
		return err
	}
	return manager.Stop(ctx, name)
}

// replaced returns the units that are to be restarted, and whose file of the present configuration changes.
func replaced(had, gets hostconfig.Config, actions []machineorder.Action) (names []string) {
	next := map[string]hostconfig.Unit{}
	for _, u := range gets.Units {
		next[u.Name] = u
	}
	restarted := map[string]bool{}
	for _, action := range actions {
		restarted[action.Unit] = restarted[action.Unit] || action.Type == machineorder.ActionRestart
	}
	for _, u := range had.Units {
		if u.Contents != nil && restarted[u.Name] && !reflect.DeepEqual(u, next[u.Name]) {
			names = append(names, u.Name)
		}
	}
	return names
}
