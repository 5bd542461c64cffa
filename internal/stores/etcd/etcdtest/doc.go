// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdtest simulates etcd clusters in memory. A World has processes that form clusters and change members, or
// refuse to, by the rules of etcd. A test decides which processes run, on which volumes, and which calls fail.
// World.Dial is the etcd.Dialer that connects to them.
//
// The simulation stores no keys. Like etcd, it does not prevent a loss of keys, such as by a member that comes back
// with an empty volume. Violations reports such events. Package test/testenv/etcdpods simulates the pods and kubelets.
package etcdtest
