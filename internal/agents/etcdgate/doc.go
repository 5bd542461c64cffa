// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdgate starts etcd only on a volume on which it is safe to start.
//
// etcd itself does not check that. A member whose directory was emptied starts under its old ID
// and votes, without the log of its earlier votes. Two such members of three are a majority
// without the acknowledged writes, which are lost without an error. Neither
// --initial-cluster-state nor the cluster ID prevents that. So three things have to agree:
//
//   - what the operator allows (package etcdstart): a new member may start without data; one that
//     was seen as part of its cluster may not, by the operator or by the gate itself (latch.go);
//   - the marker beside the directory (marker.go), which names the member that owns the volume;
//   - whether the directory has a log (volume.go).
//
// decide.go has the decision, a pure function of these. gate.go runs at each start of the
// container, and reports a refusal to the operator by the termination message. child.go runs
// etcd, and health.go answers the probes of the kubelet.
//
// A crash or a power failure can happen at any time. The marker is on the disk before etcd
// starts, so no log is older than its marker. Nothing is ever deleted.
//
// When a member counts as part of its cluster, and how to handle a refusal, belongs to the
// operator.
package etcdgate
