// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redishandover makes a server that is about to stop give its slots to a replica in sync.
// It is the hook that the kubelet runs before it stops the container. Clients wait for a moment
// instead of for an election, also during a drain or when a user deletes the pod, and without the
// operator.
//
// It logs in only to addresses of the cluster's pods, as the headless Service lists them. An
// attacker who reaches the cluster bus, which has no password, can add a node to the table of
// nodes, and must not receive the operator's password.
//
// Deciding when a pod stops, and repairs after a handover that failed, belong to the operator.
// docs/design/redis.md has how open slots are handled.
package redishandover
