// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redissim simulates Redis clusters in memory. Its World contains simulated servers that exchange gossip, claim
// slots, elect primaries, move keys, and refuse commands like real servers. A test decides which servers run and with
// which volumes.
//
// Servers exchange news at every read, so that they know at once what real servers would know a second later.
// Violations returns events that must never happen, such as a reset of a primary that has keys. Package
// test/testenv/redispods simulates pods and a kubelet.
package redissim
