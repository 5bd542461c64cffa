// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench measures operators and compares them with a bare client. The bare client makes the same writes to the
// same server, with the same concurrency, in the same run. Its time is called the floor, because an operator cannot be
// faster. Request counts are exact, so the tests check opcrew's counts. Times vary, so the tests only print their ratio
// to the floor.
//
// An operator that is measured is called a driver. It is a binary that runs in a separate process under its own
// account, so that its requests, memory and CPU time can be measured. A naive controller (test/bench/naive) is another
// driver, which does the same work as opcrew. To measure another operator, add an entry to the list of drivers. The
// bare client runs in the test process.
//
// Run the benchmarks with `make bench`. The results are in docs/benchmarks.md. Tests of the kinds' behaviour are in the
// packages of the kinds.
package bench
