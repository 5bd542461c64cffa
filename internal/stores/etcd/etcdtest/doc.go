// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdtest simulates etcd clusters in memory: a World of processes that form clusters and change members, or
// refuse to, by the rules of etcd. A test decides which processes run, on which volumes, and which calls fail.
// World.Dial is the etcd.Dialer.
//
// It stores no keys. Like etcd it does not prevent the loss of keys, such as by a member that comes back with an empty
// volume after clients used its cluster. Violations returns what must never happen. Pods and a kubelet are in
// test/testenv/etcdpods.
package etcdtest
