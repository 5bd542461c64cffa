// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisagent stands beside the two servers of a pod and tells others how they are:
// the kubelet whether the pod has its role in the ring (ready.go), Prometheus the numbers
// (metrics.go), and people with a password the whole ring on one page (page.go, ring.go).
//
// It asks its servers (server.go, info.go) when someone asks it, and at most once a second
// (looker.go). Of other pods it knows what its servers know of them, and their metrics; it
// never sends a password to another pod. It changes nothing.
//
// What does not live here: what is done about a server that is not as it should be. That
// belongs to the operator, which looks by itself.
package redisagent
