// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan computes the steps from the state of a host to a configuration. It is pure: it gets the ledger, what was
// observed on the host (Facts), and the configuration, and returns ordered steps and two ledgers, one to save before
// the first step and one to save after the last.
//
//   - items.go translates the configuration into items: one desired state per path, unit, sysctl, user and boot entry
//     (paths.go, parents.go, settings.go, special.go, values.go; translator.go has what they share). What a host cannot
//     do is an error that says what to declare instead. Tolerant leaves it out.
//   - plan.go compares items and ledger with the host (changes.go). What the configuration no longer declares goes back
//     to the original, unless another program or user changed it since.
//   - enablement.go disables units whose [Install] section changes, for the time of the change.
//   - labels.go finds what needs an SELinux label.
//   - order.go sorts the steps (step.go).
//
// After a crash, a new plan from the ledger and the disk contains the remaining steps. Package apply observes the host
// and carries out steps.
package plan
