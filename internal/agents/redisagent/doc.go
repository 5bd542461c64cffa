// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisagent reports the state of the two servers of a pod: the home server, which is the primary of the pod's
// own shard, and the guest server, a replica of the neighbour's shard. Probes learn whether both have these roles
// (ready.go), and Prometheus reads metrics (metrics.go). Users with a password see the whole ring on a page (page.go,
// ring.go).
//
// It queries its servers (server.go, info.go) on demand, and at most once a second (looker.go). About other pods it
// knows what its own servers know, and their metrics. It never sends a password to another pod. It changes nothing.
//
// The operator makes repairs, and reads the servers itself.
package redisagent
