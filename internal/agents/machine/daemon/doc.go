// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package daemon is the machine agent: it carries out the order in the annotations of its Node, and reports.
//
//   - Agent.Turn (turn.go) reads the agent's state on the host and the Node's annotations (observe.go), lets package
//     decide choose one step, and carries it out. Run (run.go) repeats that, and waits while there is nothing to do.
//   - Before a change, the agent checks the order (preflight.go). A change is a trial (begin.go, proceed.go, act.go,
//     verify.go). While there is none, the agent looks for drift (scan.go).
//
// What the agent must not forget is on the disk of the host before the next step begins (packages trial, journal and
// ledger), so a crash at any point only repeats a step. Package cluster is the client of the API server, package probe
// measures contacts, and package setup installs and removes the agent.
package daemon
