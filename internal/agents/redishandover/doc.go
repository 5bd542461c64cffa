// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redishandover makes a server that is about to stop hand over its slots to a replica in sync. It is the hook
// that the kubelet runs before it stops the container. Clients then wait for a moment instead of for an election, also
// during a drain or when a user deletes the pod, and without the operator.
//
// It logs in only to addresses of the cluster's pods, which the headless Service lists. An attacker who can reach the
// cluster bus, which has no password, can add a node to the table of nodes. That node must not receive the operator's
// password.
//
// The operator decides when a pod stops, and repairs what a failed handover leaves. docs/design/redis.md describes how
// open slots are handled.
package redishandover
