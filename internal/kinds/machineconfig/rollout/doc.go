// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which node takes which next step of an update: it orders a configuration, cordons, drains,
// confirms the drain, or uncordons. The package has no side effects.
//
// Next looks at each node in the order of urgency and evaluates an ordered list of rules for it. The first rule that
// has an opinion decides: it names a step, or what the node waits for. One budget covers everything: an unavailable
// node counts in each pool that selects it, also if a user or another tool made it unavailable, and a step needs room
// in all of these pools.
package rollout
