// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package attack attacks opcrew as a tenant: a ServiceAccount that has the editor roles of opcrew's kinds in one
// namespace, and no other rights. Each attack is an entry of a table, with its source and the defence that must stop
// it.
//
// Two tests run all attacks on a real API server, with the real operators and their deployed rights. The first test
// expects that opcrew refuses each attack, or that the attack does no harm. The second test switches the defences off:
// it uses CRDs without validation, no admission policies, and operators without guards. It expects that each attack
// does harm, which shows that the first test can fail. If a defence cannot be switched off, the test does the harm as
// an administrator, and expects to detect it.
//
// An entry fails if it needs a defence that does not exist. To run one attack:
//
//	go test -tags attack -count 1 ./test/attack -run 'Attack/hostPath'
package attack
