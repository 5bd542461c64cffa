// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisagent reports the state of the two servers of a pod: to probes whether the pod has
// its role in the ring (ready.go), to Prometheus metrics (metrics.go), and to people with a
// password the whole ring on one page (page.go, ring.go).
//
// It asks its servers (server.go, info.go) on demand, and at most once a second (looker.go). Of
// other pods it knows what its servers know, and their metrics; it never sends a password to
// another pod. It changes nothing.
//
// Repairs do not belong here: the operator makes them, and looks at the servers itself.
package redisagent
