// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redishandover hands over the slots of a Redis server to a replica before the server stops. It runs as the
// preStop hook of the container. Clients then only wait for a short failover and not for an election, even if a node is
// drained or a user deletes the pod. The handover does not need the operator.
//
// The hook only logs in to addresses of the cluster's pods, which the headless Service lists. The cluster bus has no
// password, so an attacker who reaches it can add a node to the node table. Such a node must not receive the operator's
// password.
//
// The operator decides when a pod stops, and repairs the effects of a failed handover. docs/design/redis.md describes
// how slots that are being moved are handled.
package redishandover
