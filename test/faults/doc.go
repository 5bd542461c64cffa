// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults attacks kinds: it carries out what users do with a kind's objects once
// without faults, as a reference, and then again and again with one fault at one place,
// and expects that in the end no one can tell the difference.
//
// # Workloads
//
// A Workload is a world (nodes, objects of others) and a few steps. Each step is what a
// user does and what must hold before the next one begins. The last step is always the
// same and comes by itself: all objects of the kind are deleted. A Subject is a kind, its
// workloads, and what is known of it from the outside: Truth, which is what Ready
// promises, and Invariants, which hold at every event.
//
// # Faults
//
// All that a process of the operator says and hears goes over a wire of ours: the
// transport of its rest.Config. There writes are counted, recorded, and may be lost,
// refused, or be the last thing the process did; and there the events of its watches are
// held, delayed, left out or cut off, as a server or a network could do it, so that the
// operator's caches are the real ones in every respect. A crashed process reaches nothing
// any more and a new one begins with empty caches. The classes of faults are in case.go.
//
//	crash-after, -before   the process ends right after, or before, the k-th write
//	crash-often            no process lives to do more than so many writes
//	lost                   the k-th write is done, its answer is lost
//	conflict               another client writes to the object just before the k-th write
//	refused-*              the k-th write and its repetitions are refused, for a while
//	late                   every event takes its time
//	held                   a step's events come when the operator has long come to rest
//	coalesced              of two steps only the outcome is seen
//	relist                 watches break at a step, and begin again with a list
//	older-view             a new process begins with a view from before the step; "nothing
//	                       befell" there means that it asked for what is, and got it
//	reborn                 an object is deleted and made again, and the new one is taken for the old
//	two-leaders            from a step on two processes are at work
//	restart, extra         a new process, or more reconciles, when there is nothing to do
//
// # What is expected
//
// An observer beside the operator watches everything. The end state, and the world after
// the deletion, are the reference's, save what two runs never have in common; nothing is
// created or deleted more often than in the reference; the operator comes to rest; what
// others have written survives; invariants hold at every event, in the server's order; an
// object that says it is Ready was so a moment ago at the earliest; a refusal reaches the
// user in its own words. No class has a tolerance of its own, except for how old a view
// may be on which an object calls itself Ready (hooks.slack).
//
// # Shards
//
// A kind of the whole cluster cannot share a server with another run: it gets several
// servers (-faults.servers), each of which runs one case after another and is cleaned and
// compared with what it was in between. The cases of a namespaced kind run side by side
// on one server, each in a namespace of its own.
//
// # Adding a kind
//
// Write <kind>_test.go with a Subject and call Attack; nodepool_test.go and shop_test.go
// are the models for foreign objects and for owned children. Add a line to the file parts.
// Without flags a sample is tried, whose seed is printed; all cases, in parts:
//
//	make faults
//	go test -tags faults -count 1 -timeout 45m -v -run '^TestDiva$' ./test/faults -args -faults.exhaustive -faults.part 2/5
//
// That the harness itself finds what it must is tested in planted_test.go, on package
// naive. A class that finds nothing there fails.
package faults
