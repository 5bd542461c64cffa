// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults attacks kinds: it runs typical user actions on a kind's objects once
// without faults, as a reference, and then many times with one fault at one place each,
// and expects the same end state.
//
// # Workloads
//
// A Workload is a world (nodes, objects of other owners) and a few steps. A step is a user's action and a condition
// that must hold before the next step. The last step is implicit and always deletes all objects of the kind. A Subject
// is a kind, its workloads and its external contract: Truth, which checks what Ready promises, and Invariants, which
// hold at every event.
//
// # Faults
//
// All requests of an operator process pass through the harness, as the transport of its rest.Config. The harness counts
// and records writes. It can lose or refuse a write, or end the process after it. It can hold, delay, drop or cut off
// watch events, as a server or a network could. The operator's caches are the real ones. A crashed process can reach
// nothing, and a new process starts with empty caches. case.go lists the classes of faults.
//
//	crash-after, -before   the process ends right after, or before, the k-th write
//	crash-often            no process lives to do more than so many writes
//	lost                   the k-th write is done, its answer is lost
//	conflict               another client writes to the object just before the k-th write
//	refused-*              the k-th write and its repetitions are refused, for a while
//	late                   every event is delayed
//	held                   a step's events arrive long after the operator is at rest
//	coalesced              the operator sees only the outcome of two steps
//	relist                 watches break at a step, and start again with a list
//	older-view             a new process starts with a view from before the step; "nothing
//	                       befell" means that it read live state and got it
//	reborn                 an object is deleted and recreated, and the operator sees a single object
//	two-leaders            from a step on two processes are active
//	restart, extra         a new process, or more reconciles, when there is nothing to do
//
// # What is expected
//
// An observer watches everything, independently of the operator. The end state and the world after the deletion must
// equal the reference, except for values that always differ between runs. The operator must not create or delete more
// often than in the reference, and must come to rest. Writes of other clients must survive. Invariants must hold at
// every event, in the server's order. An object that reports Ready must have been ready at that moment or shortly
// before. A refusal must reach the user in the server's own words. A class may only allow a longer time on a stale view
// (hooks.slack).
//
// # Shards
//
// A server can run one case of a cluster-scoped kind at a time. So there are several servers (-faults.servers), and
// each is cleaned and compared with its initial state between two cases. Cases of a namespaced kind run in parallel on
// one server, each in its own namespace.
//
// # Adding a kind
//
// Write <kind>_test.go with a Subject and call Attack; nodepool_test.go and shop_test.go show how to handle objects of
// other owners and children. Add a line to the file parts. Without flags the tests run a sample and print its seed. To
// run all cases, in parts:
//
//	make faults
//	go test -tags faults -count 1 -timeout 45m -v -run '^TestDiva$' ./test/faults -args -faults.exhaustive -faults.part 2/5
//
// planted_test.go tests the harness itself with the bugs of package naive. It fails if a class does not find its bug.
package faults
