// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults tests how the operators handle faults. For each kind, it performs typical user actions without faults,
// as a reference. Then it repeats the actions many times, each time with one fault at one point, and expects the same
// final state.
//
// # Workloads
//
// A Workload consists of existing objects, such as nodes and objects of other owners, and a few steps. A step is an
// action of a user, and a condition that must hold before the next step. The harness adds a last step that deletes all
// objects of the kind. A Subject is a kind with its workloads and its external contract. The contract consists of
// Truth, which checks that an object that reports Ready truly is ready, and of Invariants, which must hold at every
// event.
//
// # Faults
//
// The harness is the HTTP transport of every operator process, so it sees all requests. It counts and records writes.
// It can lose or refuse a write, or crash the process before or after it. It can delay, drop or cut off watch events,
// as a server or a network could. The operator uses its real caches. A crashed process reaches no server, and a new
// process starts with empty caches. These are the classes of faults, which case.go lists:
//
//	crash-after, -before   the process crashes right after, or before, the k-th write
//	crash-often            every process crashes after a certain number of writes
//	lost                   the server executes the k-th write, but its response is lost
//	conflict               another client writes to the object just before the k-th write
//	refused-*              the server refuses the k-th write and its repetitions, for a while
//	late                   every event is delayed
//	held                   a step's events arrive long after the operator has stopped writing
//	coalesced              the operator sees only the final state of two steps
//	relist                 watches break at a step, and start again with a list
//	older-view             a new process starts with a view from before the step; the report counts
//	                       under "nothing befell" the cases whose process used no old view
//	reborn                 an object is deleted and recreated, and the operator sees one object
//	two-leaders            two processes are active from a step on
//	restart, extra         a new process starts, or objects are reconciled again, when nothing has changed
//
// # What the tests expect
//
// An observer watches all objects, independently of the operator. The state before and after the deletion must equal
// that of the reference, except for values that always differ between runs. The operator must not create or delete an
// object more often than in the reference, and must stop writing eventually. Writes of other clients must survive.
// Invariants must hold at every event, in the server's order. An object that reports Ready must be ready at that
// moment, or have been shortly before. An error with which the server refuses a write must reach the user in the
// server's own words. A class may allow a longer time for a stale view (hooks.slack).
//
// # Servers
//
// A server can run one case of a cluster-scoped kind at a time. So the tests start several servers (-faults.servers).
// Between two cases, the harness cleans a server and compares it with its initial state. Cases of a namespaced kind run
// in parallel on one server, each in its own namespace.
//
// # Adding a kind
//
// Write <kind>_test.go with a Subject and call Attack. nodepool_test.go and shop_test.go show how to handle objects of
// other owners, and children. Add a line to the file parts. Without flags the tests run a sample and print its seed. To
// run all cases, in parts:
//
//	make faults
//	go test -tags faults -count 1 -timeout 45m -v -run '^TestDiva$' ./test/faults -args -faults.exhaustive -faults.part 2/5
//
// planted_test.go tests the harness itself with the bugs of package naive. It fails if a class does not find its bug.
package faults
