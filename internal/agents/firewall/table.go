// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import "time"

// keep repairs the table if another process changed it.
func (a *Agent) keep() error {
	if a.state.Confirmed.empty() {
		return a.removeTable()
	}
	table, err := a.state.Confirmed.table(a.Node)
	if err != nil {
		return err
	}
	active, err := a.Kernel.Active(table)
	if err != nil || active {
		return err
	}
	a.Log.Info("The firewall rules are written to the kernel, because it does not have them")
	return a.Kernel.Apply(table)
}

// clear removes the table and the state. To open all ports needs no trial.
func (a *Agent) clear() error {
	if err := a.removeTable(); err != nil {
		return err
	}
	a.state, a.reverted = State{}, time.Time{}
	return a.Store.Save(a.state)
}

func (a *Agent) removeTable() error {
	exists, err := a.Kernel.Exists()
	if err != nil || !exists {
		return err
	}
	a.Log.Info("The firewall rules are removed")
	a.learned = time.Time{} // without rules, the kernel may stop to track connections
	return a.Kernel.Remove()
}

func (a *Agent) note(err error) {
	if err != nil {
		a.Log.Error("The firewall could not be changed", "error", err.Error())
		a.problem = err.Error()
	}
}
