// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redissim has Redis clusters that only exist in memory: a World of processes, with the
// rules by which they hear of each other, claim slots, elect, move keys and refuse to. Tests say
// which processes run, and on which volumes; World.Dial is the redis.Dialer.
//
// News travel whenever someone looks: a process knows after a look what it would know a second
// later. What must never happen, such as a reset of a primary that holds keys, is in Violations.
package redissim
