// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdgate starts etcd only on a volume on which it is safe to start.
//
// etcd itself does not check that. A member whose directory was emptied starts under its old ID and votes, without the
// log of its earlier votes. Two such members out of three are a majority without the acknowledged writes, which are
// then lost without an error. Neither --initial-cluster-state nor the cluster ID prevents that. So three things have
// to agree:
//
//   - what the operator allows (package etcdstart): a new member may start without data. A member that the operator or
//     the gate (latch.go) has seen as part of its cluster may not;
//   - the marker beside the directory (marker.go), which names the member that owns the volume;
//   - whether the directory has a log (volume.go).
//
// decide.go makes the decision, as a pure function of these. gate.go runs at each start of the container, and reports
// a refusal to the operator by the termination message. child.go runs etcd, and health.go answers the kubelet's probes.
//
// A crash or a power failure can happen at any time. The marker is on the disk before etcd starts, so no log is older
// than its marker. Nothing is ever deleted.
//
// The operator decides when a member counts as part of its cluster, and how to handle a refusal.
package etcdgate
