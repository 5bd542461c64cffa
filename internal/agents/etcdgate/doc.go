// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdgate starts etcd in the place that it has a right to, or not at all.
//
// etcd itself checks nothing of the kind. A member whose directory was emptied starts under
// its old id, with its vote and without the log that says what it has voted for: two such
// members of three are a majority that knows nothing, and writes that were acknowledged are
// gone without an error anywhere. Neither --initial-cluster-state nor the cluster id keeps
// it from that. So three things have to agree before etcd starts:
//
//   - what the operator allows (start.go): a new member may begin with nothing, one that has
//     been seen as part of its cluster may not any more, by the operator or by the gate itself
//     (latch.go);
//   - the marker beside the directory (marker.go), which says whose volume this is;
//   - whether the directory holds a log (volume.go).
//
// decide.go has the decision, a pure function of these. report.go tells the operator of a
// refusal, by the termination message. gate.go goes through all this at each start of the
// container, child.go then runs etcd, and health.go answers the probes of the kubelet.
//
// A process can be killed anywhere in between, and a machine can lose its power. The marker
// is on the disk before etcd is started, so that no log is ever older than its marker; and
// nothing is ever deleted.
//
// What does not live here: when a member counts as part of its cluster, and what is done
// about a refusal. That belongs to the operator.
package etcdgate
