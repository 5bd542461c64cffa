// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench compares operators with a floor: a bare client that makes the same writes to the same server, with the
// same concurrency, in the same run. Request counts are exact, so the tests assert opcrew's counts. Times vary, so they
// only print their ratio to the floor.
//
// An operator under test is a driver: a binary that runs in its own process, as its own account, so that its calls,
// memory and CPU time can be measured. A naive controller (test/bench/naive) runs the same workload as opcrew; to
// measure another operator, add an entry to the list of drivers. The bare client runs in the test process.
//
// Run it with `make bench`. The results are in docs/benchmarks.md. Tests of the kinds' behaviour are next to their
// code.
package bench
