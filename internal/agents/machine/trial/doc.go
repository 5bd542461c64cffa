// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package trial holds the state of a provisional change on the disk of the host, so that neither a crash nor a reboot
// ends a trial: which step comes next, how often it was attempted, which contacts the node had before, and the previous
// configuration, without which a node that is cut off could not revert.
//
// The decisions are pure (steps.go). Time is measured by the clock that starts at boot, because a host can have a wrong
// date until it has a network. The package applies nothing and measures no contacts.
package trial
