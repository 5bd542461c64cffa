// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package attack attacks opcrew as a tenant does: a ServiceAccount in one namespace with the editor roles of opcrew's
// kinds there, and no other right. Each attack is an entry of a table, with its source and the defence that stops it.
//
// Two tests run all of them, on a real API server with the real operators under their deployed rights. One expects that
// each attack is refused or harmless. The other switches the defences off (CRDs without validation, no policies, operators
// without guards) and expects that each attack succeeds: this shows that the first test can fail. Where a defence has no switch,
// an administrator does the harm by hand, and the test expects that it is noticed.
//
// An entry that needs a defence which is not there fails. Run one attack with
//
//	go test -tags attack -count 1 ./test/attack -run 'Attack/hostPath'
package attack
