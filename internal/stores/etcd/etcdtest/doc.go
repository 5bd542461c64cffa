// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdtest has etcd clusters that only exist in memory: a World of them, with the
// rules by which etcd forms a cluster, changes its members and refuses to. Tests say which
// processes run, on which volumes, and what goes wrong; World.Dial is the etcd.Dialer.
//
// It keeps no keys. What must never happen to those, such as a member that comes back with an empty
// volume when clients were led to its cluster, it does not prevent, as etcd does not: it is in Violations.
package etcdtest
