// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisagent reports the state of the two Redis servers of a pod. The home server is the primary of the pod's
// own shard. The guest server is the replica of the shard of a neighbour pod. Readiness probes check that both have
// these roles (ready.go), and Prometheus reads metrics (metrics.go). Users with a password see the whole cluster on a
// status page (page.go, ring.go).
//
// The agent queries its servers (server.go, info.go) only when a client asks, and at most once per second (looker.go).
// For the status page, the agent uses the node table of its own servers, and the metrics that the agents in other pods
// serve. It never sends a password to another pod, and changes nothing.
//
// The operator repairs clusters. It queries the Redis servers directly, and does not use the agent.
package redisagent
