// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"slices"
)

// Fault is something that goes wrong with a call.
type Fault struct {
	// Call is the name of a method of etcd.Store.
	Call string
	// Process, by its name or peer URL, is the one that is called; any if it is "".
	Process string
	// After has the call take effect first: then no one is told.
	After bool
	// Err is what the call returns. If it is nil, nothing is answered.
	Err error
	// Times is how often; 0 is once.
	Times int
}

// Break has a fault strike.
func (w *World) Break(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.Times = max(1, f.Times)
	w.faults = append(w.faults, &f)
}

// Mend ends all faults.
func (w *World) Mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
}

func (w *World) strike(call string, p *process) *Fault {
	for i, f := range w.faults {
		if f.Call != call || f.Process != "" && f.Process != p.Name && f.Process != p.PeerURL {
			continue
		}
		if f.Times--; f.Times == 0 {
			w.faults = slices.Delete(w.faults, i, i+1)
		}
		return f
	}
	return nil
}

func (w *World) fail(ctx context.Context, f *Fault) error {
	if f.Err != nil {
		return f.Err
	}
	return w.silence(ctx)
}
