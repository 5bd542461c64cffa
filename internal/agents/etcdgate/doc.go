// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdgate starts etcd, but only if its volume is safe to start on.
//
// etcd itself does not check that. A member whose data directory was emptied starts under its old ID and votes,
// although it has lost the log of its earlier votes. Two such members out of three are a majority without the
// acknowledged writes, which are then lost without an error. Neither --initial-cluster-state nor the cluster ID
// prevents that. Therefore the decision depends on three facts:
//
//   - what the operator allows (package etcdstart): a new member may start without data, but a member that the operator
//     or this package (latch.go) has seen as part of its cluster may not;
//   - the marker (marker.go), a file next to the data directory that names the member that owns the volume;
//   - whether the data directory contains a log (volume.go).
//
// decide.go makes the decision as a pure function of these facts. gate.go runs at each start of the container, and
// reports a refusal to the operator in the termination message. child.go runs etcd, and health.go serves the kubelet's
// probes.
//
// The package is safe against a crash or a power failure at any time. The marker is synced to disk before etcd starts,
// so there is never a log without its marker. The package never deletes anything.
//
// The operator decides when a member counts as part of its cluster, and what to do about a refusal.
package etcdgate
