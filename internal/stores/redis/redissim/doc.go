// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redissim simulates Redis clusters in memory: a World of processes that gossip, claim slots, elect, move keys
// and refuse commands as servers do. A test decides which processes run, and on which volumes. World.Dial is the
// redis.Dialer.
//
// News spreads with every read: a process then knows at once what a server would know a second later. Violations
// returns what must never happen, such as a reset of a primary that holds keys. Pods and a kubelet are in
// test/testenv/redispods.
package redissim
