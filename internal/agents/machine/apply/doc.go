// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apply applies a configuration to a host: it reads the ledger, observes the host, and carries out the plan
// that package plan computes. It saves the ledger before the first step and after the last. Every step is idempotent.
// After a crash at any point, the next call of Apply completes the change, and a call with another configuration leads
// there.
//
//   - apply.go has the order of an application: recover, observe, plan, preflight, copy (copies.go), save, steps, save.
//   - revert.go has the way back to an earlier configuration, which goes as far as the host permits.
//   - observe.go, state.go and preflight.go read the host; they change nothing.
//   - steps.go, path.go and labels.go carry out one step. host.go has the interfaces to the host.
//
// The package does not decide when to apply, and does not reload or restart services, drain or reboot.
package apply
