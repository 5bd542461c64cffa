// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"slices"
)

// Fault makes a call to a simulated member fail.
type Fault struct {
	// Call is the name of the method of etcd.Store that fails.
	Call string
	// Process is the name or peer URL of the process that is called; "" matches all processes.
	Process string
	// After is true if the call takes effect before it fails, so that only the answer is lost.
	After bool
	// Err is the error of the call. If it is nil, the call gets no answer.
	Err error
	// Times is how often the call fails; 0 means once.
	Times int
}

// Break adds a fault.
func (w *World) Break(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.Times = max(1, f.Times)
	w.faults = append(w.faults, &f)
}

// Mend removes all faults.
func (w *World) Mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
}

func strike(w *World, call string, p *process) *Fault {
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

func fail(ctx context.Context, w *World, f *Fault) error {
	if f.Err != nil {
		return f.Err
	}
	return w.silence(ctx)
}

// silence waits until the caller gives up, without holding the lock.
func (w *World) silence(ctx context.Context) error {
	w.mu.Unlock()
	defer w.mu.Lock()
	<-ctx.Done()
	return ctx.Err()
}
