// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apply applies a configuration to a host: it reads the ledger, observes the host, and carries out the plan that
// package plan computes. It saves the ledger before the first step and after the last. Every step is idempotent, so after
// a crash at any point the next call of Apply completes the change, and a call with another configuration leads there.
//
//   - host.go has the order of an application: recover, observe, plan, preflight, copy, save, steps, save.
//   - observe.go and state.go read the host; they change nothing.
//   - steps.go, path.go and parts.go carry out one step.
//
// The package does not decide when to apply, and does not reload or restart services, drain or reboot.
package apply
