// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench counts and times operators against a floor: a bare client that makes
// the same writes to the same server, at the same concurrency, in the same run. Counts
// are exact, so those of opcrew are asserted; times are noisy, so only their ratio to
// the floor is printed.
//
// An operator under test is a driver: a binary with its own process and account, so that its
// calls, memory and CPU time can be measured. A naive controller (test/bench/naive) runs the
// same workload as opcrew; for another peer add an entry to the list of drivers. The bare
// client runs in the test process.
//
// Run it with `make bench`; docs/benchmarks.md has the tables. The behaviour of kinds is
// tested next to their code.
package bench
